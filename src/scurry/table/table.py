"""Table: a query, or a table of the catalog, that programs can run and write."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._api import advice_on_attribute
from scurry.common._optional import optional_module
from scurry.errors import ArgumentTypeError, MissingAttributeError, ValidationError
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.table._grouped_tables import GroupedTable, GroupWindowedTable, OverWindowedTable, WindowGroupedTable
from scurry.table._table.columns import ColumnMethods
from scurry.table._table.combining import CombiningMethods
from scurry.table._table.rows import RowMethods
from scurry.table._udf.row_based import AggregatedTable, FlatAggregateTable, flat_mapped, mapped
from scurry.table.explain_detail import detail_names
from scurry.table.partitioned_table import PartitionedTable, TableArgument
from scurry.table.table_pipeline import TablePipeline
from scurry.table.table_result import TableResult
from scurry.table.table_schema import TableSchema

if TYPE_CHECKING:
    from scurry.table.expression import Expression
    from scurry.table.window import GroupWindow, OverWindow

__all__ = [
    "AggregatedTable",
    "FlatAggregateTable",
    "GroupWindowedTable",
    "GroupedTable",
    "OverWindowedTable",
    "Table",
    "WindowGroupedTable",
]


class Table(ColumnMethods, RowMethods, CombiningMethods):
    """A query, or a table of the catalog."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the column of a name, as `col(name)` does."""
            if name.startswith("_"):
                raise AttributeError(name)
            if name in self._plan.schema.names:
                return self._expression(name)
            names = ", ".join(self._plan.schema.names)
            advice = advice_on_attribute(type(self), name)
            raise MissingAttributeError(
                f"The current table has no column named '{name}', available columns: [{names}]{advice}",
                name=name,
                obj=None,
            )

    # ------------------------------------------------------------------ groups and windows

    def group_by(self, *fields: Expression) -> GroupedTable:
        """Return the table in groups of equal values.

        Args:
            *fields: What the rows are grouped by.
        """
        return GroupedTable(self, self._expressions(fields))

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        """Return the table in windows of time or of numbers of rows.

        Args:
            window: The window, with its alias; `group_by` takes the alias next.
        """
        from scurry.table import window as windows

        if not isinstance(window, windows.GroupWindow):
            raise ArgumentTypeError(
                "window() takes a window with a column of time and an alias, such as "
                f"Tumble.over(lit(5).minutes).on(col('ts')).alias('w'), got {window!r}"
            )
        return GroupWindowedTable(self, window)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Return the table with windows of the rows around each row.

        Args:
            *over_windows: The windows, with their aliases; `Expression.over` takes the alias.
        """
        from scurry.table import window as windows

        for each in over_windows:
            if not isinstance(each, windows.OverWindow):
                raise ArgumentTypeError(
                    "over_window() takes windows with an alias, such as "
                    f"Over.partition_by(col('k')).order_by(col('ts')).alias('w'), got {each!r}"
                )
        if len(over_windows) != 1:
            raise ValidationError("Currently, only a single over window is supported.")
        return OverWindowedTable(self, over_windows)

    # ------------------------------------------------------------------ process table functions

    def partition_by(self, *fields: Expression) -> PartitionedTable:
        """Return the table for a process table function with state: rows with equal keys belong together.

        Args:
            *fields: The keys, which are columns.

        Raises:
            ValidationError: One is no column.
        """
        from scurry.sql.syntax import nodes

        keys = []
        for each in self._expressions(fields):
            if not isinstance(each._node, nodes.Identifier) or each._node.last not in self._plan.schema.names:
                known = ", ".join(self._plan.schema.names)
                raise ValidationError(f"partition_by takes columns, got {each}; the columns are: {known}")
            keys.append(each._node.last)
        return PartitionedTable(self, keys)

    def process(self, func: Any, *arguments: Any) -> Table:
        """Return the rows that a process table function makes of this table; see `PartitionedTable.process`.

        Args:
            func: What `udptf` returned, a `ProcessTableFunction`, or the name of one that is registered.
            *arguments: Its other arguments: values, expressions, and what `as_argument` returned.

        Raises:
            ValidationError: It is no such function, or an argument is wrong.
        """
        from scurry.table._operations.processing import TableGiven

        return self._processed(func, [TableGiven(self._plan, None), *arguments])

    def to_changelog(self, *arguments: Any) -> Table:
        """Return the changes of this table as inserted rows: the kind of each, then the columns of its row.

        Args:
            *arguments: `descriptor("kind").as_argument("op")` names the column of the kinds, `op` by default.
                `map_("INSERT, UPDATE_AFTER", "false", "DELETE", "true").as_argument("op_mapping")` says what stands for
                them; changes of other kinds are dropped. By default these are INSERT, UPDATE_BEFORE, UPDATE_AFTER and
                DELETE.

        Returns:
            A table that is only inserted into. In BATCH all rows are inserted.

        Raises:
            ValidationError: An argument is wrong, or this table has a column of that name.
        """
        from scurry.table._operations.processing import changelog

        return self._made(changelog(self._session, "TO_CHANGELOG", self._plan, arguments))

    def from_changelog(self, *arguments: Any) -> Table:
        """Return the table whose changes are the rows of this one, which is only inserted into.

        Args:
            *arguments: `descriptor("code").as_argument("op")` names the column of the kinds, `op` by default.
                `map_("c, r", "INSERT", "d", "DELETE").as_argument("op_mapping")` says which codes stand for which
                kinds; by default their names do.

        Returns:
            The table, without the column of the kinds. In BATCH it has the rows that all changes leave.

        Raises:
            ValidationError: An argument is wrong, or there is no such column. A job fails with an EvaluationError for a
                row whose code is NULL or stands for no kind.
        """
        from scurry.table._operations.processing import changelog

        return self._made(changelog(self._session, "FROM_CHANGELOG", self._plan, arguments))

    def as_argument(self, name: str) -> TableArgument:
        """Give this table to the argument of a process table function that has a name.

        Args:
            name: The name of the argument.
        """
        from scurry.table._operations.processing import TableGiven

        return TableArgument(TableGiven(self._plan, None, name))

    def _processed(self, func: Any, arguments: Sequence[Any]) -> Table:
        from scurry.table._operations.processing import processed

        given = [each._given if isinstance(each, TableArgument) else each for each in arguments]
        return self._made(processed(self._session, func, given))

    # ------------------------------------------------------------------ row by row

    def map(self, func: Any) -> Table:
        """Return the rows that a scalar function makes of those of this table.

        Args:
            func: A function, which gets each row as a `Row`, or the call of one. The fields of a ROW are columns.
        """
        return mapped(self, func)

    def flat_map(self, func: Any) -> Table:
        """Return the rows that a table function makes of each row of this table.

        Args:
            func: A table function, which gets each row as a `Row`, or the call of one.
        """
        return flat_mapped(self, func)

    def aggregate(self, func: Any) -> AggregatedTable:
        """Aggregate all rows by a function; `select` of the result chooses its columns.

        Args:
            func: An aggregate function, which gets each row as a `Row`, or the call of one.
        """
        return GroupedTable(self, []).aggregate(func)

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        """Make rows of all rows by a function; `select` of the result chooses its columns.

        Args:
            func: A table aggregate function, which gets each row as a `Row`, or the call of one.
        """
        return GroupedTable(self, []).flat_aggregate(func)

    # ------------------------------------------------------------------ what it is

    def get_schema(self) -> TableSchema:
        """Return names and types of the columns."""
        return TableSchema._of(self.get_resolved_schema())

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns; for a table of the catalog with watermark and key.

        In BATCH no column is an event-time attribute, as in Flink.
        """
        from scurry.sql.statements.queries import schema_of

        schema = schema_of(self._plan) if self._schema is None else self._schema
        return schema if self._session.is_streaming else schema.without_rowtime()

    def print_schema(self) -> None:
        """Print the columns."""
        sys.stdout.write(f"{self.get_resolved_schema()}\n")
        sys.stdout.flush()

    def execute(self) -> TableResult:
        """Run the query; its rows are computed as they are taken."""
        from scurry.sql.statements.queries import execute_plan

        return TableResult(self._session, execute_plan(self._executing, self._plan))

    def insert_into(self, table_path_or_descriptor: Any, overwrite: bool = False) -> TablePipeline:
        """Return the pipeline that writes the rows into a table.

        Args:
            table_path_or_descriptor: Name of the table, or its description, whose columns are those of the rows
                unless it has a schema.
            overwrite: Whether existing rows are replaced.

        Raises:
            ValidationError: The table does not exist, or its columns do not fit.
        """
        from scurry.sql.statements.inserts import insert_plan

        identifier = self._environment._target(self, table_path_or_descriptor)
        planning = self._session.planning(self._objects)
        sink = insert_plan(planning, self._plan, identifier, overwrite)
        assert planning.statement is not None, "it plans a statement"
        return TablePipeline(self._session, sink, identifier, planning.statement)

    def execute_insert(self, table_path_or_descriptor: Any, overwrite: bool = False) -> TableResult:
        """Start the job that writes the rows into a table.

        Args:
            table_path_or_descriptor: Name of the table, or its description, whose columns are those of the rows
                unless it has a schema.
            overwrite: Whether existing rows are replaced.

        Raises:
            ValidationError: The table does not exist, or its columns do not fit.
        """
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def explain(self, *extra_details: int) -> str:
        """Return the plans of the query."""
        from scurry.sql.statements.explain import explain_plans

        return explain_plans(self._executing, [self._plan], detail_names(extra_details))

    def print_explain(self, *extra_details: int) -> None:
        """Print the plans of the query."""
        sys.stdout.write(self.explain(*extra_details) + "\n")
        sys.stdout.flush()

    def to_pandas(self) -> Any:
        """Return the rows as a DataFrame of pandas: those that are left when all changes are applied."""
        from scurry.sql.statements.dataframes import pandas_of_plan

        return pandas_of_plan(self._executing, self._plan)

    def _repr_html_(self) -> str:
        """Return the columns and the first rows, for notebooks."""
        from scurry.table._html import html_of

        return html_of(self._executing, self._plan)

    def to_arrow(self) -> Any:
        """Return the rows as a `pyarrow.Table`. scurry's own; PyFlink has nothing like it."""
        from scurry.sql.statements.dataframes import arrow_of_plan

        return arrow_of_plan(self._executing, self._plan)

    def to_polars(self) -> Any:
        """Return the rows as a DataFrame of Polars, which shares the memory of their columns. scurry's own.

        `TableEnvironment.from_arrow` takes such DataFrames.

        Raises:
            ExtraMissingError: Polars is not installed.
        """
        return optional_module("to_polars", "polars", "polars", "polars").from_arrow(self.to_arrow())

    def to_spark(self) -> Any:
        """Return a DataFrame of Spark with the rows. scurry's own; PyFlink has nothing like it.

        In BATCH on Spark it is executed when it is used; otherwise the rows are collected first.
        """
        from scurry.sql.statements.dataframes import spark_of_plan

        return spark_of_plan(self._executing, self._plan)

    def __str__(self) -> str:
        """Return a name under which SQL finds the table from now on, as PyFlink does in f-strings."""
        if self._registered is None:
            self._registered = self._environment._register(self)
        return self._registered
