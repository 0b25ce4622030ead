"""The text of a view's query with full names of tables, columns and functions, so that it keeps its meaning.

A view means the same from any database, and has the same columns when its tables get further ones.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import ScurryError
from scurry.sql.statements.names import full_function
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.text import resolved_text
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse

#: fields of nodes whose identifiers are no columns
_NAMES = ("alias", "base", "name", "span", "type")

#: Names that Calcite's validator gives to unnamed items of FROM.
_GENERATED = "EXPR$"


@dataclass(frozen=True)
class _Relation:
    """A table in FROM: the name by which columns refer to it, and its columns."""

    name: str
    columns: tuple[str, ...]


def expanded(session: TableSession, query: nodes.Query) -> str:
    """Return the text of a query with full names; where those of columns would change it, only tables have them."""
    query = nodes.transform(query, partial(full_function, session))
    text = resolved_text(_Expansion(session, with_columns=True).of(query))
    return text if _is_same(session, query, text) else resolved_text(_Expansion(session, with_columns=False).of(query))


def _is_same(session: TableSession, query: nodes.Query, text: str) -> bool:
    try:
        parsed = parse(text)
        return (
            isinstance(parsed, nodes.Query) and plan_query(session, parsed).schema == plan_query(session, query).schema
        )
    except ScurryError:
        return False


class _Expansion:
    """Gives full names to the tables of a query, and to its columns if asked to."""

    def __init__(self, session: TableSession, with_columns: bool) -> None:
        self._session = session
        self._with_columns = with_columns
        self._unnamed = itertools.count()
        #: the tables of WITH around what is expanded
        self._common: tuple[nodes.CommonTableExpression, ...] = ()

    def of(self, node: Any) -> Any:
        """Return a node with full names."""
        if isinstance(node, tuple):
            return tuple(map(self.of, node))
        if not isinstance(node, nodes.Node):
            return node
        handler = _HANDLERS.get(type(node))
        return self._parts(node) if handler is None else handler(self, node)

    def _parts(self, node: nodes.Node) -> Any:
        changed = {}
        for each in type(node).node_fields:
            value = getattr(node, each.name)
            new = self.of(value)
            if new != value:
                changed[each.name] = new
        return nodes.replace(node, **changed) if changed else node

    def _with(self, query: nodes.With) -> nodes.With:
        before, tables = self._common, []
        for each in query.tables:
            tables.append(self._parts(each))
            self._common = (*self._common, each)
        found = nodes.replace(query, tables=tuple(tables), query=self.of(query.query))
        self._common = before
        return found

    def _select(self, query: nodes.Select) -> nodes.Select:
        if not self._with_columns or query.from_ is None:
            plain: nodes.Select = self._parts(query)
            return plain
        query = nodes.replace(query, from_=self._named(query.from_))
        relations = self._relations(query.from_)
        found: nodes.Select = self._parts(query if relations is None else _qualified_select(query, relations))
        return found

    def _table(self, query: nodes.ExplicitTable) -> Any:
        return self.of(_all_of(nodes.TableReference(query.name)))

    def _argument(self, argument: nodes.TableArgument) -> nodes.TableArgument:
        """Return a table that is an argument: Flink writes `TABLE t` as a query."""
        table = argument.table
        query = _all_of(table) if isinstance(table, nodes.TableReference) else table
        return nodes.replace(argument, table=self.of(query))

    def _alias(self, table: nodes.Alias) -> nodes.Alias:
        inner = table.table
        named = isinstance(inner, nodes.TableReference | nodes.Snapshot)
        return nodes.replace(table, table=self._full(inner) if named else self.of(inner))

    def _reference(self, table: nodes.TableReference | nodes.Snapshot) -> nodes.TableExpression:
        return nodes.Alias(self._full(table), nodes.Identifier((_name_of(table).last,)))

    def _full(self, table: nodes.TableExpression) -> nodes.TableExpression:
        if isinstance(table, nodes.Snapshot):
            return nodes.replace(table, table=self._full(table.table))
        assert isinstance(table, nodes.TableReference), "only versions of a named table can be read"
        if self._is_common(table):
            return table
        identifier = self._session.catalogs.qualify(table.name.names)
        return nodes.replace(table, name=nodes.Identifier((identifier.catalog, identifier.database, identifier.name)))

    def _is_common(self, table: nodes.TableReference) -> bool:
        return table.name.is_simple and any(each.name.last == table.name.last for each in self._common)

    def _named(self, table: nodes.TableExpression) -> nodes.TableExpression:
        """Return an item of FROM with the alias that Calcite generates for an unnamed one."""
        if isinstance(table, nodes.Join):
            left = self._named(table.left)
            return nodes.replace(table, left=left, right=self._named(table.right))
        if isinstance(table, nodes.Alias):
            return table
        number = next(self._unnamed)
        if isinstance(table, nodes.DerivedTable) or (isinstance(table, nodes.TableFunction) and not table.lateral):
            return nodes.Alias(table, nodes.Identifier((f"{_GENERATED}{number}",)))
        return table

    def _relations(self, table: Any) -> list[_Relation] | None:
        """Return the tables in FROM; None if their columns are not known without validating the query."""
        if isinstance(table, nodes.TableReference | nodes.Snapshot):
            columns = self._columns(table)
            return None if columns is None else [_Relation(_name_of(table).last, columns)]
        if isinstance(table, nodes.Alias):
            columns = tuple(column.last for column in table.columns) or self._columns(table.table)
            return None if columns is None else [_Relation(table.name.last, columns)]
        if isinstance(table, nodes.Join) and not table.natural and not table.using and "LEFT " not in table.kind:
            left, right = self._relations(table.left), self._relations(table.right)
            return None if left is None or right is None else left + right
        return None

    def _columns(self, table: Any) -> tuple[str, ...] | None:
        if isinstance(table, nodes.Snapshot):
            return self._columns(table.table)
        if isinstance(table, nodes.TableReference | nodes.DerivedTable | nodes.TableFunction):
            if getattr(table, "lateral", False):
                return None
            query: nodes.Query = _all_of(table)
            if self._common:
                query = nodes.With(self._common, query)
            try:
                return plan_query(self._session, query).schema.names
            except ScurryError:
                return None
        return None


_HANDLERS: dict[type, Callable[[_Expansion, Any], Any]] = {
    nodes.Alias: _Expansion._alias,
    nodes.ExplicitTable: _Expansion._table,
    nodes.Select: _Expansion._select,
    nodes.Snapshot: _Expansion._reference,
    nodes.TableArgument: _Expansion._argument,
    nodes.TableReference: _Expansion._reference,
    nodes.With: _Expansion._with,
}


def _all_of(table: nodes.TableExpression) -> nodes.Select:
    return nodes.Select((nodes.SelectItem(nodes.Star()),), table)


def _name_of(table: nodes.TableReference | nodes.Snapshot) -> nodes.Identifier:
    found = table.table if isinstance(table, nodes.Snapshot) else table
    assert isinstance(found, nodes.TableReference), "only versions of a named table can be read"
    return found.name


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
