"""StatementSet: insertions that run as one job."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scurry.common._api import ApiObject
from scurry.errors import UnsupportedError, ValidationError
from scurry.table._environment.base import require
from scurry.table.explain_detail import detail_names
from scurry.table.table_pipeline import TablePipeline
from scurry.table.table_result import TableResult

if TYPE_CHECKING:
    from scurry.sql.plan.nodes import Sink
    from scurry.sql.statements.session import StatementObjects, TableSession
    from scurry.table.compiled_plan import CompiledPlan
    from scurry.table.table import Table
    from scurry.table.table_environment import TableEnvironment

__all__ = ["StatementSet"]


class StatementSet(ApiObject):
    """Insertions that run as one job."""

    def __init__(self, environment: TableEnvironment) -> None:
        """Begin empty; use `create_statement_set`."""
        self._environment = environment
        self._sinks: list[Sink] = []
        #: the sources and sinks of its statements, which the job uses
        self._objects: StatementObjects | None = None

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        """Add a pipeline."""
        require(table_pipeline, TablePipeline, "a TablePipeline, which Table.insert_into(...) makes")
        self._sinks.append(table_pipeline._sink)
        self._objects = table_pipeline._objects.for_next_step(self._objects)
        return self

    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT.

        Args:
            stmt: The statement.

        Raises:
            ValidationError: It is another statement, or a wrong one.
            SqlParserError: It is no statement.
        """
        from scurry.sql.statements.inserts import plan_insert
        from scurry.sql.syntax import nodes
        from scurry.sql.syntax.parser import parse

        statement = parse(stmt)
        if not isinstance(statement, nodes.Insert):
            raise ValidationError("Only insert statement is supported now.")
        self._sinks.append(plan_insert(self._planning(), statement))
        return self

    def add_insert(self, target_path_or_descriptor: Any, table: Table, overwrite: bool = False) -> StatementSet:
        """Add the insertion of a table's rows.

        Args:
            target_path_or_descriptor: Name of the table that is written.
            table: The rows.
            overwrite: Whether existing rows are replaced.
        """
        from scurry.table.table import Table

        require(table, Table, "a Table")
        return self.add(table.insert_into(target_path_or_descriptor, overwrite))

    def attach_as_datastream(self) -> None:
        """Make the insertions part of the job that the StreamExecutionEnvironment executes; the set is empty then.

        Raises:
            ValidationError: Nothing was added.
            UnsupportedError: The environment has no streams.
        """
        from scurry.sql.statements.streams.records import attached

        environment: Any = self._environment
        if not hasattr(environment, "_attach"):
            raise UnsupportedError("attach_as_datastream: only a StreamTableEnvironment has streams")
        if not self._sinks:
            raise ValidationError(
                "No operators defined in streaming topology. Cannot execute. Add insertions to the statement set first."
            )
        sinks, self._sinks = self._sinks, []
        environment._attach(attached(self._executing(), sinks, environment._next_conversion()))
        self._objects = None

    def compile_plan(self) -> CompiledPlan:
        """Compile all insertions into a plan.

        Raises:
            ValidationError: There is something that no plan can keep, or nothing was added.
        """
        from scurry.sql.statements.compiled.plans import compiled_sinks
        from scurry.table.compiled_plan import CompiledPlan

        if not self._sinks:
            raise ValidationError("No statements to compile: add insertions to the statement set first")
        return CompiledPlan(self._environment._session, compiled_sinks(self._executing(), list(self._sinks)))

    def explain(self, *extra_details: int) -> str:
        """Return the plans of all insertions; empty without insertions."""
        from scurry.sql.statements.explain import explain_plans

        if not self._sinks:
            return ""

        return explain_plans(self._executing(), list(self._sinks), detail_names(extra_details))

    def print_explain(self, *extra_details: int) -> None:
        """Print the plans of all insertions."""
        sys.stdout.write(self.explain(*extra_details) + "\n")
        sys.stdout.flush()

    def execute(self) -> TableResult:
        """Start the job; the set is empty afterwards.

        Raises:
            ValidationError: Nothing was added.
        """
        from scurry.sql.statements.inserts import execute_sinks

        if not self._sinks:
            raise ValidationError(
                "No operators defined in streaming topology. Cannot execute. Add insertions to the statement set first."
            )
        session = self._executing()
        sinks, self._sinks, self._objects = self._sinks, [], None
        return TableResult(self._environment._session, execute_sinks(session, sinks))

    def _executing(self) -> TableSession:
        """Return the session that executes its statements, on the present rows of the tables."""
        return self._environment._session.for_execution(self._objects)

    def _planning(self) -> TableSession:
        """Return the session of the next step, with the sources and sinks of those before."""
        session = self._environment._session.planning(self._objects)
        self._objects = session.statement
        return session
