"""Table: a query, or a table of the catalog, that programs can run and write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scurry.catalog.schema import ResolvedSchema
from scurry.common._api import ApiObject, advice_on_attribute
from scurry.errors import MissingAttributeError, UnsupportedError, ValidationError
from scurry.table.explain_detail import detail_names
from scurry.table.table_pipeline import TablePipeline
from scurry.table.table_result import TableResult
from scurry.table.table_schema import TableSchema

if TYPE_CHECKING:
    from scurry.relational.plan import Plan
    from scurry.statements.table_operations import Operation
    from scurry.table.table_environment import TableEnvironment

__all__ = ["GroupedTable", "Table"]

#: methods that are not there yet
_NOT_YET = frozenset("window over_window map flat_map aggregate flat_aggregate".split())


class Table(ApiObject):
    """A query, or a table of the catalog."""

    def __init__(self, environment: TableEnvironment, plan: Plan, schema: ResolvedSchema | None = None) -> None:
        """Wrap a plan; programs get tables from `sql_query` and `from_path`."""
        self._environment = environment
        self._plan = plan
        self._schema = schema
        self._registered: str | None = None
        #: the stream whose records are the rows as they are
        self._stream: Any = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Explain what is missing."""
            if name in _NOT_YET:
                raise _unsupported(name)
            if name.startswith("_"):
                raise AttributeError(name)
            if name in self._plan.schema.names:
                return _col(name)
            advice = advice_on_attribute(type(self), name)
            raise MissingAttributeError(f"'Table' object has no attribute {name!r}{advice}", name=name, obj=None)

    # ------------------------------------------------------------------ columns

    def select(self, *fields: Any) -> Table:
        """Return a table of other columns.

        Args:
            *fields: Their expressions, or names.

        Raises:
            ValidationError: An expression is wrong.
        """
        return self._query(fields, lambda items: {"items": items})

    def alias(self, field: str, *fields: str) -> Table:
        """Return the table with other names for its first columns.

        Args:
            field: The name of the first column.
            *fields: The names of the next ones.
        """
        own = self._plan.schema.names
        new = [field, *fields, *own[len(fields) + 1 :]]
        return self.select(*(_col(old).alias(name) for old, name in zip(own, new, strict=True)))

    def add_columns(self, *fields: Any) -> Table:
        """Return the table with further columns.

        Args:
            *fields: Their expressions.

        Raises:
            ValidationError: A name is taken.
        """
        for each in map(_expression, fields):
            if each._names and each._names[0] in self._plan.schema.names:
                raise ValidationError(f"Ambiguous column name: {each._names[0]}")
        return self.select(*map(_col, self._plan.schema.names), *fields)

    def add_or_replace_columns(self, *fields: Any) -> Table:
        """Return the table with further columns, which replace those of their names.

        Args:
            *fields: Their expressions.
        """
        given = {each._names[0]: each for each in map(_expression, fields) if each._names}
        kept = [given.pop(name, _col(name)) for name in self._plan.schema.names]
        unnamed = [each for each in map(_expression, fields) if not each._names]
        return self.select(*kept, *given.values(), *unnamed)

    def rename_columns(self, *fields: Any) -> Table:
        """Return the table with other names for some columns.

        Args:
            *fields: Columns with an alias.
        """
        names = {str(each._node): each._names[0] for each in map(_expression, fields) if each._names}
        return self.select(*(_col(name).alias(names.get(name, name)) for name in self._plan.schema.names))

    def drop_columns(self, *fields: Any) -> Table:
        """Return the table without some columns.

        Args:
            *fields: The columns.
        """
        dropped = {str(_expression(each)._node) for each in fields}
        return self.select(*(_col(name) for name in self._plan.schema.names if name not in dropped))

    # ------------------------------------------------------------------ rows

    def filter(self, predicate: Any) -> Table:
        """Return the rows for which a condition is TRUE.

        Args:
            predicate: The condition.
        """
        return self._query([_star()], lambda items: {"items": items, "where": predicate._node}, predicate)

    def where(self, predicate: Any) -> Table:
        """Return the rows for which a condition is TRUE.

        Args:
            predicate: The condition.
        """
        return self.filter(predicate)

    def distinct(self) -> Table:
        """Return one of each set of equal rows."""
        return self._query([_star()], lambda items: {"items": items, "quantifier": "DISTINCT"})

    def group_by(self, *fields: Any) -> GroupedTable:
        """Return the table in groups of equal values.

        Args:
            *fields: What the rows are grouped by.
        """
        keys = [_expression(each) for each in fields]
        named = [each for each in keys if each._names]
        table = self.add_columns(*named) if named else self
        return GroupedTable(table, [_col(each._names[0]) if each._names else each for each in keys])

    def order_by(self, *fields: Any) -> Table:
        """Return the rows in an order.

        Args:
            *fields: What they are sorted by; `desc` puts the greatest value first.
        """
        from scurry.sql import nodes

        keys = [_expression(each) for each in fields]
        operation = self._operation(keys)
        items = tuple(
            nodes.OrderItem(operation.resolved(each._node, self._plan.schema), bool(each._descending)) for each in keys
        )
        return self._planned(operation, nodes.OrderBy(operation.rows(self._plan), items))

    def offset(self, offset: int) -> Table:
        """Return the rows after the first ones.

        Args:
            offset: How many are left out.
        """
        return self._limited(offset, None)

    def fetch(self, fetch: int) -> Table:
        """Return the first rows.

        Args:
            fetch: How many.
        """
        return self._limited(0, fetch)

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """Return some rows.

        Args:
            fetch: How many.
            offset: How many are left out before.
        """
        return self._limited(offset, fetch)

    def _limited(self, offset: int, fetch: int | None) -> Table:
        from scurry.relational import builders

        return Table(self._environment, builders.limit(self._plan, offset, fetch))

    # ------------------------------------------------------------------ several tables

    def join(self, right: Table, join_predicate: Any = None) -> Table:
        """Return the pairs of rows of two tables for which a condition is TRUE.

        Args:
            right: The other table; its columns have other names.
            join_predicate: The condition; None for all pairs.
        """
        return self._joined(right, "INNER", join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Any = None) -> Table:
        """Return the pairs of rows, and the rows of this table without a partner.

        Args:
            right: The other table; its columns have other names.
            join_predicate: The condition.
        """
        return self._joined(right, "LEFT", join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Any) -> Table:
        """Return the pairs of rows, and the rows of the other table without a partner.

        Args:
            right: The other table; its columns have other names.
            join_predicate: The condition.
        """
        return self._joined(right, "RIGHT", join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Any) -> Table:
        """Return the pairs of rows, and the rows of both tables without a partner.

        Args:
            right: The other table; its columns have other names.
            join_predicate: The condition.
        """
        return self._joined(right, "FULL", join_predicate)

    def join_lateral(self, table_function_call: Any, join_predicate: Any = None) -> Table:
        """Return each row with the rows that a table function returns for it.

        Args:
            table_function_call: The call, with an alias for the columns.
            join_predicate: A condition for the pairs.
        """
        return self._joined_lateral(table_function_call, "INNER", join_predicate)

    def left_outer_join_lateral(self, table_function_call: Any, join_predicate: Any = None) -> Table:
        """Return each row with the rows that a table function returns for it, or with NULLs.

        Args:
            table_function_call: The call, with an alias for the columns.
            join_predicate: None, or TRUE.
        """
        return self._joined_lateral(table_function_call, "LEFT", join_predicate)

    def union(self, right: Table) -> Table:
        """Return the rows of both tables, one of each set of equal rows."""
        return self._combined(right, "UNION", False)

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables."""
        return self._combined(right, "UNION", True)

    def intersect(self, right: Table) -> Table:
        """Return the rows that both tables have, one of each set of equal rows."""
        return self._combined(right, "INTERSECT", False)

    def intersect_all(self, right: Table) -> Table:
        """Return the rows that both tables have, as often as both have them."""
        return self._combined(right, "INTERSECT", True)

    def minus(self, right: Table) -> Table:
        """Return the rows that the other table does not have, one of each set of equal rows."""
        return self._combined(right, "EXCEPT", False)

    def minus_all(self, right: Table) -> Table:
        """Return the rows without as many equal ones as the other table has."""
        return self._combined(right, "EXCEPT", True)

    def _joined(self, right: Table, kind: str, predicate: Any) -> Table:
        from scurry.sql import nodes

        ambiguous = [name for name in self._plan.schema.names if name in right._plan.schema.names]
        if ambiguous:
            raise ValidationError(f"join relations with ambiguous names: [{', '.join(ambiguous)}]")
        condition = (
            None if predicate is None and kind == "INNER" else _expression(True if predicate is None else predicate)
        )
        operation = self._operation([] if condition is None else [condition])
        resolved = (
            None if condition is None else operation.resolved(condition._node, self._plan.schema + right._plan.schema)
        )
        first, second = operation.table(self._plan), operation.table(right._plan)
        join = nodes.Join("CROSS" if resolved is None else kind, first, second, condition=resolved)
        return self._planned(operation, nodes.Select((nodes.SelectItem(nodes.Star()),), join))

    def _joined_lateral(self, call: Any, kind: str, predicate: Any) -> Table:
        from scurry.sql import nodes

        function = _expression(call)
        if not isinstance(function._node, nodes.Call):
            raise ValidationError("join_lateral takes the call of a table function")
        condition = _expression(True if predicate is None else predicate)
        operation = self._operation([function, condition])
        right: nodes.TableExpression = nodes.TableFunction(function._node, lateral=True)
        if function._names:
            names = tuple(nodes.Identifier((name,)) for name in function._names)
            right = nodes.Alias(right, nodes.Identifier(("*function*",)), names)
        join = nodes.Join(kind, operation.table(self._plan), right, condition=condition._node)
        return self._planned(operation, nodes.Select((nodes.SelectItem(nodes.Star()),), join))

    def _combined(self, right: Table, operator: str, all: bool) -> Table:
        from scurry.sql import nodes

        operation = self._operation([])
        left, other = operation.rows(self._plan), operation.rows(right._plan)
        if len(self._plan.schema) != len(right._plan.schema):
            raise ValidationError(
                f"The {'minus' if operator == 'EXCEPT' else operator.lower()} operation on two tables of different "
                f"column sizes: {len(self._plan.schema)} and {len(right._plan.schema)} is not supported"
            )
        return self._planned(operation, nodes.SetOperation(operator, all, left, other))

    def _operation(self, expressions: Sequence[Any]) -> Operation:
        from scurry.statements.table_operations import Operation

        functions = {name: function for each in expressions for name, function in each._functions.items()}
        return Operation(self._environment._session, functions)

    def _planned(self, operation: Operation, query: Any) -> Table:
        return Table(self._environment, operation.planned(query))

    def _query(self, fields: Sequence[Any], parts: Callable[[Any], dict[str, Any]], *others: Any) -> Table:
        """Return the result of a SELECT of some fields from this table."""
        from scurry.sql import nodes

        chosen = [_expression(each) for each in fields]
        operation = self._operation([*chosen, *others])
        changed = parts(_items(operation, chosen, self._plan.schema))
        if "where" in changed:
            changed["where"] = operation.resolved(changed["where"], self._plan.schema)
        return self._planned(operation, nodes.Select(from_=operation.table(self._plan), **changed))

    # ------------------------------------------------------------------ what it is

    def get_schema(self) -> TableSchema:
        """Return names and types of the columns."""
        schema = self.get_resolved_schema()
        return TableSchema(schema.get_column_names(), schema.get_column_data_types())

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns; for a table of the catalog with watermark and key."""
        from scurry.statements.queries import schema_of

        return schema_of(self._plan) if self._schema is None else self._schema

    def print_schema(self) -> None:
        """Print the columns."""
        sys.stdout.write(f"{self.get_resolved_schema()}\n")
        sys.stdout.flush()

    def execute(self) -> TableResult:
        """Run the query; its rows are computed as they are taken."""
        from scurry.statements.queries import execute_plan

        session = self._environment._session
        return TableResult(session, execute_plan(session, self._plan))

    def insert_into(self, table_path_or_descriptor: Any, overwrite: bool = False) -> TablePipeline:
        """Return the pipeline that writes the rows into a table.

        Args:
            table_path_or_descriptor: Name of the table.
            overwrite: Whether existing rows are replaced.

        Raises:
            ValidationError: The table does not exist, or its columns do not fit.
        """
        from scurry.statements.inserts import insert_plan

        session = self._environment._session
        identifier = self._environment._identifier(table_path_or_descriptor)
        return TablePipeline(session, insert_plan(session, self._plan, identifier, overwrite), identifier)

    def execute_insert(self, table_path_or_descriptor: Any, overwrite: bool = False) -> TableResult:
        """Start the job that writes the rows into a table.

        Args:
            table_path_or_descriptor: Name of the table.
            overwrite: Whether existing rows are replaced.

        Raises:
            ValidationError: The table does not exist, or its columns do not fit.
        """
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def explain(self, *extra_details: int) -> str:
        """Return the plans of the query."""
        from scurry.statements.explain import explain_plans

        return explain_plans(self._environment._session, [self._plan], detail_names(extra_details))

    def print_explain(self, *extra_details: int) -> None:
        """Print the plans of the query."""
        sys.stdout.write(self.explain(*extra_details) + "\n")
        sys.stdout.flush()

    def to_pandas(self) -> Any:
        """Return the rows as a DataFrame of pandas."""
        import pandas as pd

        with self.execute().collect() as rows:
            values = [list(row) for row in rows]
        return pd.DataFrame(values, columns=self.get_resolved_schema().get_column_names())

    def __str__(self) -> str:
        """Return a name under which SQL finds the table from now on, as PyFlink does in f-strings."""
        if self._registered is None:
            self._registered = self._environment._register(self)
        return self._registered


class GroupedTable(ApiObject):
    """A table whose rows are in groups."""

    def __init__(self, table: Table, keys: Sequence[Any]) -> None:
        """Take the table and the keys; programs get it from `group_by`."""
        self._table = table
        self._keys = keys

    def select(self, *fields: Any) -> Table:
        """Return a row for each group.

        Args:
            *fields: Keys and aggregates.

        Raises:
            ValidationError: An expression is neither made of keys nor of aggregates.
        """
        from scurry.sql import nodes

        table = self._table
        chosen = [_expression(each) for each in fields]
        operation = table._operation([*self._keys, *chosen])
        keys = tuple(operation.resolved(each._node, table._plan.schema) for each in self._keys)
        query = nodes.Select(
            _items(operation, chosen, table._plan.schema),
            operation.table(table._plan),
            group_by=nodes.GroupBy(keys) if keys else None,
        )
        return table._planned(operation, query)


def _items(operation: Operation, chosen: Sequence[Any], schema: Any) -> Any:
    """Return the items of a SELECT, named as the Table API names them."""
    from scurry.sql import nodes

    items, aggregates = [], 0
    for place, each in enumerate(chosen):
        node = operation.resolved(each._node, schema)
        is_aggregate = isinstance(node, nodes.Call) and operation.is_aggregate(node)
        if isinstance(node, nodes.Star):
            items.append(nodes.SelectItem(node))
            continue
        name = each._names[0] if each._names else None
        if name is None and isinstance(node, nodes.Identifier):
            name = node.last
        if name is None:
            name = f"EXPR${aggregates}" if is_aggregate else f"_c{place}"
        aggregates += is_aggregate
        items.append(nodes.SelectItem(node, nodes.Identifier((name,))))
    return tuple(items)


def _expression(value: Any) -> Any:
    from scurry.table.expression import Expression, expression_of

    if isinstance(value, str):
        return _star() if value == "*" else _col(value)
    return value if isinstance(value, Expression) else expression_of(value)


def _col(name: str) -> Any:
    from scurry.table.expressions import col

    return col(name)


def _star() -> Any:
    from scurry.table.expressions import with_all_columns

    return with_all_columns()


def _unsupported(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"Table.{name} is not available in this version of scurry; write the query in SQL: "
        "t_env.sql_query('SELECT ...')"
    )
