"""TablePipeline: rows that are written into a table when it is executed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scurry.common._api import ApiObject
from scurry.table.explain_detail import detail_names
from scurry.table.table_result import TableResult

if TYPE_CHECKING:
    from scurry.sql.catalog.identifier import ObjectIdentifier
    from scurry.sql.plan.nodes import Sink
    from scurry.sql.statements.session import StatementObjects, TableSession
    from scurry.table.compiled_plan import CompiledPlan

__all__ = ["TablePipeline"]


class TablePipeline(ApiObject):
    """Rows that are written into a table."""

    def __init__(
        self, session: TableSession, sink: Sink, identifier: ObjectIdentifier, objects: StatementObjects
    ) -> None:
        """Wrap a plan; programs get it from `Table.insert_into`."""
        self._session = session
        self._sink = sink
        self._identifier = identifier
        #: the sources and sinks of its plan, which the job uses
        self._objects = objects

    def execute(self) -> TableResult:
        """Start the job."""
        from scurry.sql.statements.inserts import execute_sinks

        return TableResult(self._session, execute_sinks(self._executing(), [self._sink]))

    def compile_plan(self) -> CompiledPlan:
        """Compile the insertion into a plan.

        Raises:
            ValidationError: There is something that no plan can keep.
        """
        from scurry.sql.statements.compiled.plans import compiled_sinks
        from scurry.table.compiled_plan import CompiledPlan

        return CompiledPlan(self._session, compiled_sinks(self._executing(), [self._sink]))

    def explain(self, *extra_details: int) -> str:
        """Return the plans."""
        from scurry.sql.statements.explain import explain_plans

        return explain_plans(self._executing(), [self._sink], detail_names(extra_details))

    def _executing(self) -> TableSession:
        return self._session.for_execution(self._objects)

    def print_explain(self, *extra_details: int) -> None:
        """Print the plans."""
        sys.stdout.write(self.explain(*extra_details) + "\n")
        sys.stdout.flush()

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """Return the full name of the table; None if no catalog has it."""
        return self._identifier if self._identifier.catalog else None

    def __str__(self) -> str:
        """Return where the rows go."""
        name = self._identifier.as_serializable_string() if self._identifier.catalog else self._identifier.name
        return f"TablePipeline with sink table '{name}'"
