"""Table: a query, or a table of the catalog, that programs can run and write."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scurry.catalog.schema import ResolvedSchema
from scurry.common._api import ApiObject, advice_on_attribute
from scurry.errors import MissingAttributeError, UnsupportedError
from scurry.table.table_pipeline import TablePipeline
from scurry.table.table_result import TableResult
from scurry.table.table_schema import TableSchema

if TYPE_CHECKING:
    from scurry.relational.plan import Plan
    from scurry.table.table_environment import TableEnvironment

__all__ = ["Table"]

#: methods of the Table API proper, which build queries without SQL
_NOT_YET = frozenset(
    "select alias filter where group_by distinct join left_outer_join right_outer_join full_outer_join join_lateral "
    "left_outer_join_lateral minus minus_all union union_all intersect intersect_all order_by offset fetch limit "
    "window over_window add_columns add_or_replace_columns rename_columns drop_columns map flat_map aggregate "
    "flat_aggregate".split()
)


class Table(ApiObject):
    """A query, or a table of the catalog."""

    def __init__(self, environment: TableEnvironment, plan: Plan, schema: ResolvedSchema | None = None) -> None:
        """Wrap a plan; programs get tables from `sql_query` and `from_path`."""
        self._environment = environment
        self._plan = plan
        self._schema = schema
        self._registered: str | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Explain what is missing."""
            if name in _NOT_YET:
                raise _unsupported(name)
            if name.startswith("_"):
                raise AttributeError(name)
            advice = advice_on_attribute(type(self), name)
            raise MissingAttributeError(f"'Table' object has no attribute {name!r}{advice}", name=name, obj=None)

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

        return explain_plans(self._environment._session, [self._plan])

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


def _unsupported(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"Table.{name}: the Table API is not available in this version of scurry; write the query in SQL: "
        "t_env.sql_query('SELECT ...')"
    )
