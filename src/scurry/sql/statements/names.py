"""Names in statements: qualifying them, filtering them with LIKE."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.functions.operators.patterns import like_regex
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.validator.functions.user_functions import is_built_in


def qualified(session: TableSession, name: nodes.Identifier) -> ObjectIdentifier:
    """Return the full name that a name in a statement means."""
    return session.catalogs.qualify(name.names)


def full_function(session: TableSession, node: nodes.Node) -> nodes.Node:
    """Return a call of a catalog's function with the full name of the function, any other node as it is."""
    if not isinstance(node, nodes.Call):
        return node
    functions, name = session.catalogs.functions, node.name
    if name.is_simple and (functions.find_system(name.last) is not None or is_built_in(name.last)):
        return node
    if len(name.names) > 3 or functions.find(name.names) is None:
        return node
    return nodes.replace(node, name=nodes.Identifier(qualified(session, name).path))


def options_of(properties: Iterable[nodes.Property] | None) -> dict[str, str]:
    return {each.key.value: each.value.value for each in properties or ()}


def filtered(names: Iterable[str], like: nodes.NameFilter | None) -> list[str]:
    """Return the names that LIKE or ILIKE accepts, or does not if it is negated."""
    if like is None:
        return list(names)
    flags = re.IGNORECASE | re.DOTALL if like.operator.upper() == "ILIKE" else re.DOTALL
    pattern = re.compile(_regex(like.pattern), flags)
    return [name for name in names if (pattern.fullmatch(name) is None) == like.negated]


def _regex(pattern: str) -> str:
    parts: list[str | None] = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "\\" and position + 1 < len(pattern):
            position += 1
            parts.append(re.escape(pattern[position]))
        else:
            parts.append({"%": None, "_": "."}.get(char, re.escape(char)))
        position += 1
    return like_regex(parts)
