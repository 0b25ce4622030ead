"""TableEnvironment: where programs execute SQL."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._config.validation import validate
from scurry.common.configuration import Configuration
from scurry.errors import ArgumentError, ArgumentTypeError, ValidationError
from scurry.sql.types import DataType, RowField, RowType, without_user_types
from scurry.sql.values.elements import internal_value, unverified_value, without_dataclasses
from scurry.table._elements import inferred_row_type
from scurry.table._environment.base import require
from scurry.table._environment.catalogs import CatalogMethods
from scurry.table._environment.functions import FunctionMethods
from scurry.table._environment.models import ModelMethods
from scurry.table._environment.modules import ModuleMethods
from scurry.table._environment.procedures import ProcedureMethods
from scurry.table._environment.tables import TableMethods
from scurry.table._stream_conversions import StreamConversions
from scurry.table.environment_settings import EnvironmentSettings
from scurry.table.explain_detail import ExplainDetail, detail_names
from scurry.table.expression import Expression
from scurry.table.statement_set import StatementSet
from scurry.table.table import Table
from scurry.table.table_config import TableConfig
from scurry.table.table_result import TableResult

if TYPE_CHECKING:
    from scurry.datastream import DataStream
    from scurry.sql.syntax import nodes

__all__ = ["StreamTableEnvironment", "TableEnvironment"]


class TableEnvironment(TableMethods, CatalogMethods, FunctionMethods, ModelMethods, ModuleMethods, ProcedureMethods):
    """Entry point of programs that execute SQL: catalogs, settings, and a mode."""

    def __init__(self, environment_settings: EnvironmentSettings, configuration: Configuration | None = None) -> None:
        """Make an environment; use `create`.

        Args:
            environment_settings: The settings.
            configuration: The configuration that the settings are added to, and which is shared; None for a new one.

        Raises:
            UnknownConfigError: A key of the settings is nearly one that means something.
            ConfigError: A value of the settings cannot be used.
        """
        from scurry.common._process import launch
        from scurry.sql.statements.session import TableSession

        given = environment_settings.get_configuration()
        overrides = launch.current().overrides()
        validate(given if configuration is not None else {**given.to_dict(), **overrides})
        configuration = Configuration(given) if configuration is None else configuration.add_all(given)
        for key, value in overrides.items():
            configuration.set_string(key, value)
        launch.environment_made(configuration.to_dict())
        self._session = TableSession.create(configuration)
        self._config = TableConfig(configuration)
        self._unnamed = 0
        self._anonymous = 0

    def __repr__(self) -> str:
        """Return the text for notebooks: `<TableEnvironment, streaming, in default_catalog.default_database>`."""
        catalogs, mode = self._session.catalogs, "streaming" if self._session.is_streaming else "batch"
        place = f"{catalogs.current_catalog}.{catalogs.current_database}"
        return f"<{type(self).__name__}, {mode}, in {place}>"

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        """Make an environment.

        Args:
            environment_settings: The settings, or a configuration.
        """
        if isinstance(environment_settings, Configuration):
            environment_settings = EnvironmentSettings(environment_settings)
        return TableEnvironment(environment_settings)

    # ------------------------------------------------------------------ SQL

    def execute_sql(self, stmt: str) -> TableResult:
        """Execute a statement.

        Args:
            stmt: The statement.

        Returns:
            Its answer. An INSERT runs in the background: `wait()` for it.

        Raises:
            SqlParserError: It is no statement of Flink's dialect.
            ValidationError: Flink would refuse it.
            UnsupportedError: scurry does not run it.
        """
        from scurry.sql.statements.execution import execute

        return TableResult(self._session, execute(self._session, _parsed(stmt)))

    def sql_query(self, query: str) -> Table:
        """Return the table of a query.

        Args:
            query: The query.

        Raises:
            SqlParserError: It is no statement of Flink's dialect.
            ValidationError: It is no query, or Flink would refuse it.
        """
        from scurry.sql.statements.queries import plan_query
        from scurry.sql.syntax import nodes
        from scurry.sql.syntax.places import failing_in

        statement = _parsed(query)
        with failing_in(statement):
            if not isinstance(statement, nodes.Query):
                raise ValidationError(
                    "Unsupported SQL query! sqlQuery() only accepts a single SQL query of type SELECT, UNION, "
                    "INTERSECT, EXCEPT, VALUES, and ORDER_BY."
                ).with_hint("statements that are no queries are executed by execute_sql()")
            session = self._session.planning()
            return Table(self, plan_query(session, statement), objects=session.statement)

    def explain_sql(self, stmt: str, *extra_details: ExplainDetail | int) -> str:
        """Return the plans of a query or an INSERT.

        Args:
            stmt: The statement.
            *extra_details: Shown beside the plans: `ExplainDetail.CHANGELOG_MODE`, `JSON_EXECUTION_PLAN` and
                `PLAN_ADVICE` in STREAMING; `ESTIMATED_COST` is refused.
        """
        from scurry.sql.statements.explain import explain_text
        from scurry.sql.syntax.places import failing_in

        statement = _parsed(stmt)
        with failing_in(statement):
            return explain_text(self._session, statement, detail_names(extra_details))

    def create_statement_set(self) -> StatementSet:
        """Return an empty set of insertions."""
        return StatementSet(self)

    # ------------------------------------------------------------------ tables and views

    def from_elements(
        self, elements: Iterable[Any], schema: DataType | Sequence[str] | None = None, verify_schema: bool = True
    ) -> Table:
        """Return a table of Python values.

        Args:
            elements: Tuples, rows, dicts, or instances of a dataclass, whose type hints are the types of the columns;
                or calls of `row`, whose values are converted to the types of the schema.
            schema: The type of the rows, or the names of the columns; None to infer both.
            verify_schema: Whether values are checked against a declared type. Otherwise what does not fit is made to
                fit, as 300 in a TINYINT becomes 44, or is NULL.

        Raises:
            TypeMismatchError: A value does not fit the schema.
            ArgumentError: No schema can be inferred.
            ArgumentTypeError: A value has no SQL type.
        """
        from scurry.sql.plan.expressions import Literal
        from scurry.sql.plan.nodes import Values
        from scurry.sql.plan.schema import Schema as PlanSchema
        from scurry.sql.values.hints import type_of_hint
        from scurry.table._operations.fields import values_of_expressions

        require(elements, Iterable, "rows")
        given = list(elements)
        rows = [without_dataclasses(each) for each in given]
        classes = set(map(type, given))
        if schema is None and len(classes) == 1 and dataclasses.is_dataclass(type(given[0])):
            hinted = type_of_hint(classes.pop())
            schema = hinted if isinstance(hinted, RowType) else None
        if isinstance(schema, DataType):
            row_type = schema if isinstance(schema, RowType) else RowType([RowField("value", schema)])
            if row_type is not schema:
                rows = [(row,) for row in rows]
        elif isinstance(schema, list | tuple | None):
            row_type = inferred_row_type(rows, schema)
        else:
            raise ArgumentTypeError(f"schema should be RowType, list, tuple or None, but got: {schema!r}")
        columns = RowType([RowField(each.name, without_user_types(each.data_type)) for each in row_type])
        if any(isinstance(each, Expression) for each in given):
            return Table(self, values_of_expressions(self._session, given, columns))
        conversion = internal_value if verify_schema else unverified_value
        values = list(map(conversion(row_type.not_null()), rows))
        literals = tuple(tuple(map(Literal, row, columns.field_types())) for row in values)
        return Table(self, Values(PlanSchema.of(columns.field_names(), columns.field_types()), literals))

    def from_pandas(
        self, pdf: Any, schema: RowType | Sequence[str] | Sequence[DataType] | None = None, splits_num: int = 1
    ) -> Table:
        """Return a table of the rows of a DataFrame of pandas; missing values are NULL.

        Args:
            pdf: The DataFrame.
            schema: The type of the rows, or the names or the types of the columns; None for its own.
            splits_num: Into how many parts the rows are split, which are read in parallel.

        Raises:
            TypeError: It is no DataFrame, or values do not fit the schema.
        """
        import pandas as pd

        from scurry.sql.statements.dataframes import plan_of_pandas

        if splits_num < 1:
            raise ArgumentError(f"splits_num is the number of parts, at least 1, got {splits_num}")
        if not isinstance(pdf, pd.DataFrame):
            raise ArgumentTypeError(f"Unsupported type, expected pandas.DataFrame, got {type(pdf)}")
        return Table(self, plan_of_pandas(self._session, pdf, schema, self._frame_name("arrow"), splits_num))

    def from_arrow(self, table: Any, splits_num: int = 1) -> Table:
        """Return a table of columns of Arrow. scurry's own; PyFlink has nothing like it.

        Args:
            table: A `pyarrow.Table` or `RecordBatch`, or an object with Arrow's C stream interface, such as a DataFrame
                of Polars.
            splits_num: Into how many parts the rows are split, which are read in parallel.

        Raises:
            TypeError: It is no table, or a column has a type that SQL does not have.
        """
        import pyarrow as pa

        from scurry.sql.statements.dataframes import plan_of_arrow, types_of_arrow

        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        elif not isinstance(table, pa.Table):
            if not hasattr(table, "__arrow_c_stream__"):
                raise ArgumentTypeError(f"expected a pyarrow.Table, got {type(table)}")
            table = pa.table(table)
        types = types_of_arrow(table.schema)
        return Table(self, plan_of_arrow(self._session, table, types, self._frame_name("arrow"), splits_num))

    def from_spark(self, dataframe: Any) -> Table:
        """Return a table of the rows of a batch DataFrame of Spark. scurry's own; PyFlink has nothing like it.

        In BATCH on Spark it becomes part of the query; otherwise its rows are collected first.

        Args:
            dataframe: A `pyspark.sql.DataFrame`.

        Raises:
            TypeError: It is none, or a streaming one, or a column has a type that SQL does not have.
        """
        from scurry.sql.statements.dataframes import plan_of_frame

        return Table(self, plan_of_frame(self._session, dataframe, self._frame_name("spark")))

    def _frame_name(self, kind: str) -> str:
        self._anonymous += 1
        return f"*anonymous_{kind}_source${self._anonymous}*"

    def create_temporary_view(self, view_path: str, table_or_data_stream: Table, *fields_or_schema: Any) -> None:
        """Add a temporary view of a table.

        Args:
            view_path: Its name.
            table_or_data_stream: The table.
            *fields_or_schema: For streams, of which a `StreamTableEnvironment` makes views.

        Raises:
            ValidationError: There is a temporary table of that name.
        """
        if not isinstance(table_or_data_stream, Table) or fields_or_schema:
            raise ArgumentTypeError(
                f"create_temporary_view takes a Table, got {table_or_data_stream!r}; views of streams are made by a "
                "StreamTableEnvironment"
            )
        self._add_view(view_path, table_or_data_stream)

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> bool:
        """Add a view of a table to a catalog; return whether there was none.

        Args:
            view_path: Its name.
            table: The table.
            ignore_if_exists: Whether there may be a table or view of that name.

        Raises:
            ValidationError: There is a table or view of that name.
            UnsupportedError: The catalog keeps only views of SQL text, or none.
        """
        if not isinstance(table, Table):
            raise ArgumentTypeError(f"create_view takes a Table, got {table!r}")
        return self._session.catalogs.create_table(_view_of(table), self._named(view_path), ignore_if_exists)

    def _add_view(self, path: str, table: Table) -> None:
        self._session.catalogs.create_temporary_table(_view_of(table), self._named(path), if_not_exists=False)

    def _register(self, table: Table) -> str:
        name = f"UnnamedTable${self._unnamed}"
        self._unnamed += 1
        self._session.catalogs.create_temporary_table(
            _view_of(table), self._session.catalogs.qualify([name]), if_not_exists=False
        )
        return name

    # ------------------------------------------------------------------ settings

    def get_config(self) -> TableConfig:
        """Return the settings, which can be changed through it."""
        return self._config


class StreamTableEnvironment(StreamConversions, TableEnvironment):
    """A TableEnvironment beside a StreamExecutionEnvironment: its tables and streams can be converted to each other.

    Both share their settings. What tables are converted to is executed by the StreamExecutionEnvironment, in one job
    with the streams; statements and queries of tables run as jobs of their own, with the streams that they read.
    """

    def __init__(self, environment_settings: EnvironmentSettings, stream_environment: Any = None) -> None:
        """Make an environment; use `create`."""
        configuration = None if stream_environment is None else stream_environment._configuration
        super().__init__(environment_settings, configuration)
        self._streams = stream_environment

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: Any = None, environment_settings: EnvironmentSettings | None = None
    ) -> StreamTableEnvironment:
        """Make an environment.

        Args:
            stream_execution_environment: The environment of the streams; None if tables are not converted.
            environment_settings: Further settings; None for those of the environment of the streams.

        Raises:
            ValueError: Neither is given.
        """
        if stream_execution_environment is None and environment_settings is None:
            raise ArgumentError(
                "No argument found, the param 'stream_execution_environment' or 'environment_settings' is required."
            )
        if isinstance(environment_settings, Configuration):
            environment_settings = EnvironmentSettings(environment_settings)
        settings = environment_settings or EnvironmentSettings(stream_execution_environment._configuration)
        made = StreamTableEnvironment(settings, stream_execution_environment)
        if environment_settings is None:
            # As Flink: only settings of tables say how rows are printed, not the mode of the streams.
            made._session.is_beside_streams = True
        return made

    def create_temporary_view(
        self, view_path: str, table_or_data_stream: Table | DataStream[Any], *fields_or_schema: Any
    ) -> None:
        """Add a temporary view of a table or of a stream.

        Args:
            view_path: Its name.
            table_or_data_stream: The table, or the stream.
            *fields_or_schema: For a stream, as for `from_data_stream`.

        Raises:
            ValidationError: There is a temporary table of that name, or the stream has no columns.
        """
        if isinstance(table_or_data_stream, Table):
            super().create_temporary_view(view_path, table_or_data_stream, *fields_or_schema)
            return
        self._add_view(view_path, self.from_data_stream(table_or_data_stream, *fields_or_schema))


def _parsed(text: str) -> nodes.Statement:
    from scurry.sql.syntax.parser import parse

    return parse(text)


def _view_of(table: Table) -> Any:
    from scurry.sql.catalog.entries import QueryView

    return QueryView(table.get_resolved_schema(), plan=table._plan)
