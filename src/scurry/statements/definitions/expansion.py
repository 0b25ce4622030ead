"""The text of a view's query with the full names of its tables, so that it means the same from any database."""

from __future__ import annotations

from typing import Any

from scurry.sql import nodes
from scurry.statements.session import TableSession
from scurry.statements.text import sql_text

__all__ = ["expanded"]


def expanded(session: TableSession, query: nodes.Query) -> str:
    """Return the text of a query with the full names of its tables."""
    return sql_text(_expanded(session, query, frozenset()))


def _expanded(session: TableSession, node: Any, hidden: frozenset[str]) -> Any:
    """Return a node with the full names of its tables; `hidden` are the tables of WITH."""
    if isinstance(node, tuple):
        return tuple(_expanded(session, each, hidden) for each in node)
    if not isinstance(node, nodes.Node):
        return node
    if isinstance(node, nodes.With):
        hidden = hidden | {table.name.last for table in node.tables}
    if isinstance(node, nodes.Alias) and isinstance(node.table, nodes.TableReference):
        return nodes.replace(node, table=_qualified(session, node.table, hidden))
    if isinstance(node, nodes.TableReference):
        full = _qualified(session, node, hidden)
        return full if full is node else nodes.Alias(full, nodes.Identifier((node.name.last,)))
    changed = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        new = _expanded(session, value, hidden)
        if new != value:
            changed[each.name] = new
    return nodes.replace(node, **changed) if changed else node


def _qualified(session: TableSession, table: nodes.TableReference, hidden: frozenset[str]) -> nodes.TableReference:
    if table.name.is_simple and table.name.last in hidden:
        return table
    identifier = session.catalogs.qualify(table.name.names)
    return nodes.replace(table, name=nodes.Identifier((identifier.catalog, identifier.database, identifier.name)))
