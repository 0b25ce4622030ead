"""CompiledPlan: insertions as they are executed, independent of later versions of the optimiser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from scurry.common._api import ApiObject
from scurry.common._pyflink import version as pyflink_version
from scurry.errors import UnsupportedError
from scurry.table.table_result import TableResult

if TYPE_CHECKING:
    from scurry.sql.statements.compiled.plans import CompiledStatement
    from scurry.sql.statements.session import TableSession

__all__ = ["CompiledPlan"]


class CompiledPlan(ApiObject):
    """Insertions as they are executed: operators, expressions, types, tables.

    A job of a compiled plan resumes from a savepoint of an earlier job of the same plan, also where a later version
    would plan the statement differently. Temporary tables and user-defined functions are kept by name only.
    """

    def __init__(self, session: TableSession, plan: CompiledStatement) -> None:
        """Wrap a plan; programs get it from `TableEnvironment.compile_plan_sql` and `load_plan`."""
        self._session = session
        self._plan = plan

    def __str__(self) -> str:
        """Return the plan as JSON."""
        return self.as_json_string()

    def as_json_string(self) -> str:
        """Return the plan as JSON."""
        return self._plan.text

    def as_smile_bytes(self) -> NoReturn:
        """Refuse: plans are JSON.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("as_smile_bytes: plans are kept as JSON: as_json_string().encode()")

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> None:
        """Write the plan as JSON.

        Args:
            file: Path of the file; directories are made.
            ignore_if_exists: Whether nothing is done if the file is there.

        Raises:
            ValidationError: It is there, and neither this nor `table.plan.force-recompile` says that it may be; or it
                cannot be written.
        """
        from scurry.sql.statements.compiled.files import write_plan

        write_plan(self._session, self._plan, Path(file), ignore_if_exists)

    def get_flink_version(self) -> str:
        """Return the version of Flink whose SQL the plan was compiled of, as `2.3`."""
        return ".".join(pyflink_version.__version__.split(".")[:2])

    def print_json_string(self) -> None:
        """Print the plan as JSON."""
        sys.stdout.write(self.as_json_string() + "\n")
        sys.stdout.flush()

    def execute(self) -> TableResult:
        """Start the job.

        Raises:
            ValidationError: A table has no source or sink any more.
        """
        return TableResult(self._session, self._plan.execute())

    def explain(self, *extra_details: int) -> str:
        """Return the plan as text.

        Args:
            *extra_details: Accepted for Flink's sake: the plan is shown as it is executed.
        """
        return self._plan.explain()

    def print_explain(self, *extra_details: int) -> None:
        """Print the plan as text.

        Args:
            *extra_details: As for `explain`.
        """
        sys.stdout.write(self.explain(*extra_details) + "\n")
        sys.stdout.flush()
