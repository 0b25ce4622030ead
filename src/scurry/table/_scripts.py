"""Scripts of statements, as `scurry run script.sql` executes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scurry.errors import ScurryError, SqlParserError, ValidationError
from scurry.table.environment_settings import EnvironmentSettings
from scurry.table.table_environment import TableEnvironment
from scurry.table.table_result import TableResult

if TYPE_CHECKING:
    from scurry.sql import nodes
    from scurry.statements.session import TableSession

__all__ = ["ScriptError", "run_script"]

_MODE = "execution.runtime-mode"


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

    text = path.read_text(encoding="utf-8")
    try:
        statements = parse_statements(text)
    except SqlParserError as error:
        raise ScriptError(path, error.line, error.column, error) from None
    runner = _ScriptRunner(TableEnvironment.create(EnvironmentSettings.new_instance().build())._session)
    for statement in statements:
        try:
            runner.execute(statement)
        except ScurryError as error:
            raise ScriptError(path, statement.span.line, statement.span.column, error) from error
    if runner.collected is not None:
        raise ScriptError(
            path, text.count("\n") + 1, 1, ValidationError("BEGIN STATEMENT SET without END: nothing of it was run")
        )


class _ScriptRunner:
    def __init__(self, session: TableSession) -> None:
        self._session = session
        #: the insertions since BEGIN STATEMENT SET
        self.collected: list[nodes.Insert] | None = None
        self._initial = session.configuration.to_dict()

    def execute(self, statement: nodes.Statement) -> None:
        from scurry.sql import nodes
        from scurry.statements.execution import execute
        from scurry.statements.inserts import execute_statement_set

        if isinstance(statement, nodes.Set):
            self._set(statement)
        elif isinstance(statement, nodes.Reset):
            self._reset(statement)
        elif isinstance(statement, nodes.BeginStatementSet):
            self.collected = []
        elif isinstance(statement, nodes.EndStatementSet):
            if self.collected is None:
                raise ValidationError("END without BEGIN STATEMENT SET")
            inserts, self.collected = self.collected, None
            if inserts:
                TableResult(self._session, execute_statement_set(self._session, inserts)).wait()
        elif self.collected is not None:
            if not isinstance(statement, nodes.Insert):
                raise ValidationError("Only INSERT statements are allowed between BEGIN STATEMENT SET and END")
            self.collected.append(statement)
        else:
            self._show(TableResult(self._session, execute(self._session, statement)), statement)

    def _show(self, result: TableResult, statement: nodes.Statement) -> None:
        from scurry.sql import nodes

        if result.get_job_client() is not None and not isinstance(statement, nodes.Query):
            result.wait()
        elif result.get_result_kind():
            result.print()

    def _set(self, statement: nodes.Set) -> None:
        from scurry.statements.results import STRING, table_result

        if statement.key is None:
            rows = sorted(self._session.configuration.to_dict().items())
            TableResult(self._session, table_result([("key", STRING), ("value", STRING)], rows)).print()
            return
        self._session.configuration.set_string(statement.key, statement.value or "")
        self._follow_mode()

    def _reset(self, statement: nodes.Reset) -> None:
        configuration = self._session.configuration
        for key in [statement.key] if statement.key is not None else list(configuration.key_set()):
            configuration.remove_config(key)
            if key in self._initial:
                configuration.set_string(key, self._initial[key])
        self._follow_mode()

    def _follow_mode(self) -> None:
        self._session.is_streaming = self._session.setting(_MODE, "STREAMING").upper() != "BATCH"
