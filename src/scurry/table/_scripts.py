"""Scripts of statements, as `scurry run script.sql` executes them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from scurry.common.job_client import JobClient
from scurry.errors import ScurryError, SqlParserError, ValidationError
from scurry.runtime.progress import ProgressDisplay
from scurry.table.environment_settings import EnvironmentSettings
from scurry.table.table_environment import TableEnvironment
from scurry.table.table_result import TableResult


class ScriptError(Exception):
    """A statement of a script that failed.

    Attributes:
        error: Why.
    """

    def __init__(self, path: Path, line: int, column: int, error: Exception) -> None:
        """Name the place."""
        place = getattr(error, "statement", None)
        where = str(place) if place is not None and place.file else f"{path}:{line}:{column}"
        super().__init__(f"{where}: {error.describe() if isinstance(error, ScurryError) else error}")
        self.error = error


def run_script(path: Path) -> None:
    """Execute the statements of a file, one after the other, and print their results.

    Insertions are waited for. SET and RESET change settings, `execution.runtime-mode` among them. The insertions
    between BEGIN STATEMENT SET and END run as one job.

    Args:
        path: The file.

    Raises:
        ScriptError: A statement failed; nothing runs if one cannot be parsed.
    """
    from scurry.sql.statements.client_statements import ClientStatements
    from scurry.sql.syntax.parser import parse_statements
    from scurry.sql.syntax.places import failing_in

    text = path.read_text(encoding="utf-8")
    try:
        statements = parse_statements(text)
    except SqlParserError as error:
        if error.statement is not None:
            error.statement = replace(error.statement, file=str(path))
        raise ScriptError(path, error.line, error.column, error) from None
    session = TableEnvironment.create(EnvironmentSettings.new_instance().build())._session
    session.watching = ProgressDisplay
    runner = ClientStatements(session)
    for statement in statements:
        try:
            answer = runner.execute(statement, str(path))
            with failing_in(statement, str(path)):
                _show(TableResult(session, answer))
        except ScurryError as error:
            raise ScriptError(path, statement.span.line, statement.span.column, error) from error
    if runner.collected is not None:
        raise ScriptError(
            path, text.count("\n") + 1, 1, ValidationError("BEGIN STATEMENT SET without END: nothing of it was run")
        )


def _show(result: TableResult) -> None:
    """Wait for insertions; print the results of other statements."""
    job = result._result.job
    if job is not None and not result._result.is_query:
        with _progress_of(job):
            result.wait()
    elif result.get_result_kind():
        result.print()


def _progress_of(job: JobClient) -> AbstractContextManager[object]:
    """Return the progress display of an insertion; queries show theirs while their rows are fetched."""
    from scurry.sql.statements.jobs import StatementJob

    return ProgressDisplay(job.execution) if isinstance(job, StatementJob) else nullcontext()
