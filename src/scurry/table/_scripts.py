"""Scripts of statements, as `scurry run script.sql` executes them."""

from __future__ import annotations

from pathlib import Path

from scurry.errors import ScurryError, SqlParserError, ValidationError
from scurry.table.environment_settings import EnvironmentSettings
from scurry.table.table_environment import TableEnvironment
from scurry.table.table_result import TableResult

__all__ = ["ScriptError", "run_script"]


class ScriptError(Exception):
    """A statement of a script that failed.

    Attributes:
        error: Why.
    """

    def __init__(self, path: Path, line: int, column: int, error: Exception) -> None:
        """Name the place."""
        super().__init__(f"{path}:{line}:{column}: {error}")
        self.error = error


def run_script(path: Path) -> None:
    """Execute the statements of a file, one after the other, and print what they answer.

    Insertions are waited for. SET and RESET change settings, `execution.runtime-mode` among them. The insertions
    between BEGIN STATEMENT SET and END run as one job.

    Args:
        path: The file.

    Raises:
        ScriptError: A statement failed; nothing runs if one cannot be parsed.
    """
    from scurry.sql.parser import parse_statements
    from scurry.statements.client_statements import ClientStatements

    text = path.read_text(encoding="utf-8")
    try:
        statements = parse_statements(text)
    except SqlParserError as error:
        raise ScriptError(path, error.line, error.column, error) from None
    session = TableEnvironment.create(EnvironmentSettings.new_instance().build())._session
    runner = ClientStatements(session)
    for statement in statements:
        try:
            _show(TableResult(session, runner.execute(statement)))
        except ScurryError as error:
            raise ScriptError(path, statement.span.line, statement.span.column, error) from error
    if runner.collected is not None:
        raise ScriptError(
            path, text.count("\n") + 1, 1, ValidationError("BEGIN STATEMENT SET without END: nothing of it was run")
        )


def _show(result: TableResult) -> None:
    """Wait for insertions; print what other statements answer."""
    if result.get_job_client() is not None and not result._result.is_query:
        result.wait()
    elif result.get_result_kind():
        result.print()
