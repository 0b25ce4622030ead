"""The text of a view's query with full names of tables and columns, so that it keeps its meaning.

A view means the same from any database, and has the same columns when its tables get further ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scurry.errors import ScurryError
from scurry.sql import nodes
from scurry.sql.parser import parse
from scurry.statements.queries import plan_query
from scurry.statements.session import TableSession
from scurry.statements.text import resolved_text

__all__ = ["expanded"]


#: fields of nodes whose identifiers are no columns
_NAMES = ("alias", "base", "name", "span", "type")

_Named = nodes.TableReference | nodes.Snapshot


@dataclass(frozen=True)
class _Relation:
    """A table in FROM: the name by which columns refer to it, and its columns."""

    name: str
    columns: tuple[str, ...]


def expanded(session: TableSession, query: nodes.Query) -> str:
    """Return the text of a query with full names; where those of columns would change it, only tables have them."""
    text = resolved_text(_expanded(session, query, frozenset(), with_columns=True))
    return text if _is_same(session, query, text) else resolved_text(_expanded(session, query, frozenset(), False))


def _is_same(session: TableSession, query: nodes.Query, text: str) -> bool:
    try:
        parsed = parse(text)
        return (
            isinstance(parsed, nodes.Query) and plan_query(session, parsed).schema == plan_query(session, query).schema
        )
    except ScurryError:
        return False


def _expanded(session: TableSession, node: Any, hidden: frozenset[str], with_columns: bool) -> Any:
    """Return a node with full names; `hidden` are the tables of WITH."""
    if isinstance(node, tuple):
        return tuple(_expanded(session, each, hidden, with_columns) for each in node)
    if not isinstance(node, nodes.Node):
        return node
    if isinstance(node, nodes.With):
        hidden = hidden | {table.name.last for table in node.tables}
    if isinstance(node, nodes.Alias) and isinstance(node.table, nodes.TableReference | nodes.Snapshot):
        return nodes.replace(node, table=_full(session, node.table, hidden))
    if isinstance(node, nodes.TableReference | nodes.Snapshot):
        full = _full(session, node, hidden)
        return full if full is node else nodes.Alias(full, nodes.Identifier((_reference(node).name.last,)))
    if with_columns and isinstance(node, nodes.Select):
        relations = _relations(session, node.from_, hidden)
        if relations is not None:
            node = _qualified_select(node, relations)
    changed = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        new = _expanded(session, value, hidden, with_columns)
        if new != value:
            changed[each.name] = new
    return nodes.replace(node, **changed) if changed else node


def _full(session: TableSession, table: _Named, hidden: frozenset[str]) -> _Named:
    if isinstance(table, nodes.Snapshot):
        full = _full(session, _reference(table), hidden)
        return table if full is table.table else nodes.replace(table, table=full)
    if table.name.is_simple and table.name.last in hidden:
        return table
    identifier = session.catalogs.qualify(table.name.names)
    return nodes.replace(table, name=nodes.Identifier((identifier.catalog, identifier.database, identifier.name)))


def _reference(table: _Named) -> nodes.TableReference:
    found = table.table if isinstance(table, nodes.Snapshot) else table
    assert isinstance(found, nodes.TableReference), "only versions of a named table can be read"
    return found


def _relations(session: TableSession, table: Any, hidden: frozenset[str]) -> list[_Relation] | None:
    """Return the tables in FROM; None if their columns are not known without validating the query."""
    if isinstance(table, nodes.TableReference | nodes.Snapshot):
        columns = _columns(session, table, hidden)
        return None if columns is None else [_Relation(_reference(table).name.last, columns)]
    if isinstance(table, nodes.Alias):
        columns = tuple(column.last for column in table.columns) or _columns(session, table.table, hidden)
        return None if columns is None else [_Relation(table.name.last, columns)]
    if isinstance(table, nodes.Join) and not table.natural and not table.using and "LEFT " not in table.kind:
        left, right = _relations(session, table.left, hidden), _relations(session, table.right, hidden)
        return None if left is None or right is None else left + right
    return None


def _columns(session: TableSession, table: Any, hidden: frozenset[str]) -> tuple[str, ...] | None:
    if isinstance(table, nodes.Snapshot):
        return _columns(session, table.table, hidden)
    if isinstance(table, nodes.TableReference):
        if table.name.is_simple and table.name.last in hidden:
            return None
        found = session.catalogs.find_table(session.catalogs.qualify(table.name.names))
        return None if found is None else tuple(found.table.schema.get_column_names())
    if isinstance(table, nodes.DerivedTable) and not table.lateral and not hidden:
        try:
            return plan_query(session, table.query).schema.names
        except ScurryError:
            return None
    return None


def _qualified_select(select: nodes.Select, relations: Sequence[_Relation]) -> nodes.Select:
    counts = Counter(column for relation in relations for column in relation.columns)
    owners = {column: relation.name for relation in relations for column in relation.columns if counts[column] == 1}
    items: list[nodes.SelectItem] = []
    for item in select.items:
        starred = _starred(item.expression, relations)
        items += [nodes.replace(item, expression=_owned(item.expression, owners))] if starred is None else starred
    changed = {
        each.name: _owned(getattr(select, each.name), owners)
        for each in type(select).node_fields
        if each.name not in ("items", "from_", "span")
    }
    return nodes.replace(select, items=tuple(items), **changed)


def _starred(expression: nodes.Expression, relations: Sequence[_Relation]) -> list[nodes.SelectItem] | None:
    if not isinstance(expression, nodes.Star):
        return None
    qualifier = expression.qualifier
    if qualifier is None:
        chosen = list(relations)
    else:
        chosen = [each for each in relations if qualifier.names == (each.name,)]
        if not chosen:
            return None
    return [nodes.SelectItem(nodes.Identifier((each.name, column))) for each in chosen for column in each.columns]


def _owned(node: Any, owners: dict[str, str]) -> Any:
    """Return a node in which columns have the names of their tables; queries inside it are left as they are."""
    if isinstance(node, tuple):
        return tuple(_owned(each, owners) for each in node)
    if isinstance(node, nodes.Identifier):
        if node.is_simple and node.last in owners:
            return nodes.Identifier((owners[node.last], node.last))
        return node
    if not isinstance(node, nodes.Node) or isinstance(node, nodes.Query):
        return node
    changed = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        if each.name in _NAMES:
            continue
        new = _owned(value, owners)
        if new != value:
            changed[each.name] = new
    return nodes.replace(node, **changed) if changed else node
