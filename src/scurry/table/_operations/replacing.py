"""Replacing parts of an expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.sql.syntax import nodes


def replaced(node: nodes.Expression, change: Callable[[nodes.Expression], nodes.Expression | None]) -> nodes.Expression:
    """Return an expression with parts replaced, from the outside in.

    Args:
        node: The expression.
        change: Returns what to put in place of a part, None to look into it.
    """
    found = change(node)
    if found is not None:
        return found
    changes: dict[str, Any] = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        if isinstance(value, nodes.Expression):
            changes[each.name] = replaced(value, change)
        elif isinstance(value, tuple):
            changes[each.name] = tuple(
                replaced(one, change) if isinstance(one, nodes.Expression) else one for one in value
            )
    return nodes.replace(node, **changes)
