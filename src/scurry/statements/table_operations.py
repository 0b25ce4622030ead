"""The methods of tables as queries: they are validated as those of SQL are, and give the same plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scurry.errors import ValidationError
from scurry.functions.aggregate.catalogue import lookup_aggregate
from scurry.functions.user.definition import UserFunction
from scurry.logical_types import CharType, VarCharType
from scurry.relational.plan import Plan
from scurry.relational.schema import Schema
from scurry.sql import nodes
from scurry.sql.validator import catalog as seen
from scurry.sql.validator import validate_expression, validate_query
from scurry.statements.catalog_reader import SessionCatalog
from scurry.statements.session import TableSession

__all__ = ["Operation"]


class _OperationCatalog(SessionCatalog):
    """The catalogs of a session, with the tables and functions of one operation."""

    def __init__(
        self, session: TableSession, tables: Mapping[str, Plan], functions: Mapping[str, UserFunction]
    ) -> None:
        super().__init__(session)
        self._tables = tables
        self._functions = functions

    def find(self, names: tuple[str, ...]) -> seen.CatalogTable | seen.CatalogView | seen.CatalogPlan | None:
        plan = self._tables.get(names[0]) if len(names) == 1 else None
        return super().find(names) if plan is None else seen.CatalogPlan(names, plan)

    def find_system_function(self, name: str) -> UserFunction | None:
        return self._functions.get(name) or super().find_system_function(name)


class Operation:
    """An operation of tables: a query over their plans."""

    def __init__(self, session: TableSession, functions: Mapping[str, UserFunction]) -> None:
        """Take the session, and the functions of users that the expressions of the operation call."""
        self._session = session
        self._functions = functions
        self._tables: dict[str, Plan] = {}

    def table(self, plan: Plan) -> nodes.TableReference:
        """Return a table of the operation, for FROM."""
        name = f"*table*{len(self._tables)}"
        self._tables[name] = plan
        return nodes.TableReference(nodes.Identifier((name,)))

    def rows(self, plan: Plan) -> nodes.Select:
        """Return the query of all rows of a table."""
        return nodes.Select((nodes.SelectItem(nodes.Star()),), self.table(plan))

    def planned(self, query: nodes.Query) -> Plan:
        """Return the plan of a query.

        Raises:
            ValidationError: It is wrong.
        """
        return validate_query(query, self._catalog(), self._session.for_functions())

    def resolved(self, node: nodes.Expression, schema: Schema) -> nodes.Expression:
        """Return an expression over some columns, in which `+` of texts joins them.

        Raises:
            ValidationError: It names a column that is not there.
        """
        for name in _columns_of(node):
            if name.last not in schema.names:
                known = ", ".join(schema.names)
                place = name.span.describe()
                raise ValidationError(
                    f"Cannot resolve field [{name.last}], input field list:[{known}]." + (f" {place}" if place else "")
                )
        return self._with_texts_joined(node, schema)

    def is_aggregate(self, call: nodes.Call) -> bool:
        """Say whether a call is one of an aggregate."""
        user = self._functions.get(call.name.last)
        return user.kind == "aggregate" if user is not None else lookup_aggregate(call.name.last) is not None

    def _with_texts_joined(self, node: nodes.Expression, schema: Schema) -> nodes.Expression:
        if not isinstance(node, nodes.Call) or not node.arguments:
            return node
        arguments = tuple(
            self._with_texts_joined(each, schema) if isinstance(each, nodes.Expression) else each
            for each in node.arguments
        )
        name = node.name
        if name.names == ("+",) and any(self._is_text(each, schema) for each in arguments):
            name = nodes.Identifier(("||",), span=name.span)
        return nodes.replace(node, name=name, arguments=arguments)

    def _is_text(self, node: nodes.Node, schema: Schema) -> bool:
        if not isinstance(node, nodes.Expression):
            return False
        try:
            found = validate_expression(node, schema, self._catalog(), self._session.for_functions())
        except ValidationError:  # an aggregate, or what is refused with the whole
            return False
        return isinstance(found.type, CharType | VarCharType)

    def _catalog(self) -> _OperationCatalog:
        return _OperationCatalog(self._session, self._tables, self._functions)


def _columns_of(node: nodes.Node) -> Iterator[nodes.Identifier]:
    """Iterate over the columns that an expression names."""
    if isinstance(node, nodes.Identifier):
        yield node
        return
    if isinstance(node, nodes.Query | nodes.TypeSpec):
        return
    named = [node.name] if isinstance(node, nodes.Call) else [node.field] if isinstance(node, nodes.FieldAccess) else []
    for child in nodes.children(node):
        if not any(child is each for each in named):
            yield from _columns_of(child)
