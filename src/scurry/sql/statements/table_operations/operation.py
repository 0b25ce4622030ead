"""One operation of a table as a SQL query, which the one validator checks and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scurry.errors import ScurryError, SignatureError, ValidationError
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.functions.aggregate.definition import AggregateSite
from scurry.sql.functions.definition import Argument, EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import AggregateCall, Expression
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.schema import Schema
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_operations.columns import expanded
from scurry.sql.statements.table_operations.failures import column_names, placed, refuse_wrong_calls, unknown_column
from scurry.sql.statements.table_operations.flink_names import by_sql_name
from scurry.sql.statements.table_operations.summary import flink_name, summary
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse_expression
from scurry.sql.types import BooleanType, CharType, DataType, NullType, RowField, RowType, VarCharType
from scurry.sql.types.families import without_time_attribute
from scurry.sql.validator import catalog as seen
from scurry.sql.validator import validate_expression, validate_query
from scurry.sql.validator.functions.user_functions import converted_arguments
from scurry.sql.validator.session_catalog import SessionCatalog

_STRING = nodes.BasicTypeSpec("STRING")


class _OperationCatalog(SessionCatalog):
    """The catalogs of a session, with the tables and functions of one operation."""

    def __init__(
        self, others: SessionCatalog, tables: Mapping[str, Plan], functions: Mapping[str, UserFunction]
    ) -> None:
        super().__init__(others.catalogs, others.is_streaming, others.load, None, others.module_functions)
        self._tables = tables
        self._functions = functions

    def find(self, names: tuple[str, ...]) -> seen.CatalogTable | seen.CatalogView | seen.CatalogPlan | None:
        plan = self._tables.get(names[0]) if len(names) == 1 else None
        return super().find(names) if plan is None else seen.CatalogPlan(names, plan)

    def find_system_function(self, name: str) -> UserFunction | None:
        return self._functions.get(name) or super().find_system_function(name)


class Operation:
    """An operation of tables: a query over their plans."""

    def __init__(
        self,
        session: TableSession,
        functions: Mapping[str, UserFunction] | None = None,
        tables: Mapping[str, Plan] | None = None,
    ) -> None:
        """Create an operation with the scope of its expressions, beside the catalog.

        Args:
            functions: The user-defined functions that they call, by the names they call them by.
            tables: The tables that they read, by the names they read them by.
        """
        self._session = session
        self._functions = dict(functions or {})
        self._tables = dict(tables or {})

    def table(self, plan: Plan) -> nodes.TableReference:
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
        return validate_query(query, self._catalog(), self._for_functions())

    def columns(self, node: nodes.Expression, schema: Schema) -> list[nodes.Expression]:
        """Return the expressions over some columns that one stands for, with the Table API's meaning.

        Columns of columns are found, `+` of texts joins them, and calls have the types that Flink accepts.

        Raises:
            ValidationError: It names a column that is not there, or a call is wrong.
        """
        return [self._resolved(each, schema) for each in expanded(node, schema)]

    def column(self, node: nodes.Expression, schema: Schema) -> nodes.Expression:
        """Return an expression over some columns, as `columns` does, that stands for one value.

        Raises:
            ValidationError: It stands for several, it names a column that is not there, or a call is wrong.
        """
        found = self.columns(node, schema)
        if len(found) != 1:
            raise ValidationError(f"One column is expected here, but {len(found)} are given.{placed(node)}")
        return found[0]

    def condition(self, node: nodes.Expression, schema: Schema, operator: str) -> nodes.Expression:
        """Return a condition over some columns, as `column` does.

        Args:
            operator: What has it, for the message: Filter or Join.

        Raises:
            ValidationError: It is no condition.
        """
        found = self.column(node, schema)
        kind = self.type(found, schema)
        if kind is not None and not isinstance(kind, BooleanType | NullType):
            shown = "$condition" if operator == "Filter" else summary(node)
            raise ValidationError(
                f"Filter operator requires a boolean expression as input, but {shown} is of type "
                f"{kind.as_summary_string()}{placed(node)}"
            )
        return found

    def call(self, node: nodes.Call, schema: Schema) -> nodes.Call:
        """Return a call with its arguments over some columns, as `columns` does.

        Raises:
            ValidationError: An argument is wrong.
        """
        arguments = tuple(
            new
            for each in node.arguments
            for new in (self.columns(each, schema) if isinstance(each, nodes.Expression) else [each])
        )
        return nodes.replace(node, arguments=arguments)

    def fields(self, node: nodes.Expression, schema: Schema) -> list[str] | None:
        """Return the names of the fields of a row, None if the expression is no row."""
        kind = self.type(node, schema)
        return kind.field_names() if isinstance(kind, RowType) else None

    def table_aggregate(
        self, plan: Plan, keys: Sequence[nodes.Expression], call: nodes.Call, names: Sequence[str]
    ) -> Plan:
        """Return the rows that a table aggregate function makes of the groups of a plan.

        Args:
            keys: What its rows are grouped by.
            names: Names for the first columns of the function's rows.

        Raises:
            ValidationError: An expression is wrong.
        """
        function, schema = self.user_function(call), plan.schema
        assert function is not None, "the caller has looked at its kind"
        grouped = [self._typed(each, schema) for key in keys for each in self.columns(key, schema)]
        nodes_ = [each for each in self.call(call, schema).arguments if isinstance(each, nodes.Expression)]
        arguments = [self._typed(each, schema) for each in nodes_]
        taken = converted_arguments(function, function.name, arguments, self._for_functions(), call.span)
        own = [name for name, _ in function.columns]
        types = [data_type for _, data_type in function.columns]
        bound = AggregateCall(function, taken, function.result_type, span=call.span)
        return builders.table_aggregate(plan, grouped, bound, Schema.of([*names, *own[len(names) :]], types))

    def value(self, node: nodes.Expression) -> Expression:
        """Return a value that depends on no column.

        Raises:
            ValidationError: The expression is wrong.
        """
        return self._typed(self.column(node, Schema()), Schema())

    def _typed(self, node: nodes.Expression, schema: Schema) -> Expression:
        return validate_expression(node, schema, self._catalog(), self._for_functions())

    def is_aggregate(self, node: nodes.Expression) -> bool:
        if isinstance(node, nodes.JsonObjectAggregate | nodes.JsonArrayAggregate):
            return node.over is None
        if not isinstance(node, nodes.Call) or node.over is not None:
            return False
        user = self.user_function(node)
        if user is not None:
            return user.kind == "aggregate"
        meant = by_sql_name(node)
        return isinstance(meant, nodes.Call) and lookup_aggregate(meant.name.last) is not None

    def _is_checked_elsewhere(self, node: nodes.Expression) -> bool:
        return self.is_aggregate(node) or (isinstance(node, nodes.Call) and self.user_function(node) is not None)

    def user_function(self, call: nodes.Call) -> UserFunction | None:
        """Return the user-defined function that a call means, None if it is another one."""
        names = call.name.names
        catalog = self._catalog()
        return (catalog.find_system_function(names[0]) if len(names) == 1 else None) or catalog.find_function(names)

    def has_aggregates(self, node: nodes.Node) -> bool:
        """Return whether there are calls of aggregates in an expression."""
        if isinstance(node, nodes.Query):
            return False
        if isinstance(node, nodes.Expression) and self.is_aggregate(node):
            return True
        return any(map(self.has_aggregates, nodes.children(node)))

    def _resolved(self, node: nodes.Expression, schema: Schema) -> nodes.Expression:
        for name in column_names(node):
            if name.last not in schema.names:
                raise unknown_column(name, schema.names)
        self._refuse_nested(node, within=False)
        found = self._as_meant(node, schema)
        refuse_wrong_calls(found, lambda each: self.type(each, schema), self._is_checked_elsewhere)
        self._refuse_wrong_aggregates(found, schema)
        return found

    def _refuse_wrong_aggregates(self, node: nodes.Node, schema: Schema) -> None:
        if isinstance(node, nodes.Query):
            return
        for child in nodes.children(node):
            self._refuse_wrong_aggregates(child, schema)
        if not isinstance(node, nodes.Call) or not self.is_aggregate(node) or self.user_function(node) is not None:
            return
        function = lookup_aggregate(node.name.last)
        kind = self.type(node.arguments[0], schema) if len(node.arguments) == 1 else None
        if function is None or kind is None:
            return
        try:
            session = self._for_functions()
            function.infer(AggregateSite(function.name, (Argument(kind),), session, is_grouped=True))
        except SignatureError:
            called = f"{flink_name(node.name.last)}({kind.as_summary_string()})"
            raise ValidationError(f"Invalid function call:\n{called}{placed(node)}") from None

    def _as_meant(self, node: nodes.Expression, schema: Schema) -> nodes.Expression:
        """Return an expression in which `+` of texts joins them, and fields of rows are named `f0`, `f1`, ...

        User-defined functions that have the names of operators stand for these.
        """
        changes: dict[str, Any] = {}
        for each in type(node).node_fields:
            value = getattr(node, each.name)
            if isinstance(value, nodes.Identifier | nodes.Query | nodes.TypeSpec):
                continue
            if isinstance(value, nodes.Expression):
                changes[each.name] = self._as_meant(value, schema)
            elif isinstance(value, tuple):
                changes[each.name] = tuple(
                    self._as_meant(one, schema) if isinstance(one, nodes.Expression) else one for one in value
                )
        found = nodes.replace(node, **changes)
        if not isinstance(found, nodes.Call):
            return found
        found = self._overridden(found)
        if self.user_function(found) is None:
            meant = by_sql_name(found)
            if not isinstance(meant, nodes.Call):
                return meant
            found = meant
        if found.name.names == ("ROW",):
            return self._row(found, schema)
        if found.name.names != ("+",):
            return found
        types = [self.type(each, schema) for each in found.arguments]
        if not isinstance(types[0], CharType | VarCharType):
            return found
        texts = tuple(
            each if isinstance(kind, CharType | VarCharType) else nodes.Cast(each, _STRING, span=each.span)
            for each, kind in zip(found.arguments, types, strict=True)
            if isinstance(each, nodes.Expression)
        )
        return nodes.replace(found, name=nodes.Identifier(("||",), span=found.name.span), arguments=texts)

    def _overridden(self, call: nodes.Call) -> nodes.Call:
        """Return a call of the temporary system function that has the name of an operator: `plus` is called by `+`."""
        name = call.name.last
        own = flink_name(name)
        if not call.name.is_simple or name in self._functions or self._catalog().find_system_function(own) is None:
            return call
        return nodes.replace(call, name=nodes.Identifier((own,), span=call.name.span))

    def _row(self, call: nodes.Call, schema: Schema) -> nodes.Expression:
        kind = self.type(call, schema)
        if not isinstance(kind, RowType):
            return call
        types = map(without_time_attribute, kind.field_types())
        fields = [RowField(f"f{place}", each) for place, each in enumerate(types)]
        cast = parse_expression(f"CAST(NULL AS {RowType(fields).as_summary_string()})")
        return nodes.replace(cast, operand=call, span=call.span)

    def _refuse_nested(self, node: nodes.Node, within: bool) -> None:
        if isinstance(node, nodes.Query):
            return
        aggregate = isinstance(node, nodes.Expression) and self.is_aggregate(node)
        if aggregate and within:
            raise ValidationError(
                f"It's not allowed to use an aggregate function as input of another aggregate function.{placed(node)}"
            )
        for child in nodes.children(node):
            self._refuse_nested(child, within or aggregate)

    def type(self, node: nodes.Node, schema: Schema) -> DataType | None:
        """Return the type of an expression over some columns.

        None if it has none by itself: it is wrong, or has aggregates.
        """
        if not isinstance(node, nodes.Expression):
            return None
        try:
            return self._typed(node, schema).type
        except ScurryError:  # an aggregate, or what is refused with the whole
            return None

    def _for_functions(self) -> EvaluationContext:
        return replace(self._session.for_functions(), is_of_tables=True)

    def _catalog(self) -> _OperationCatalog:
        return _OperationCatalog(self._session.catalog(), self._tables, self._functions)
