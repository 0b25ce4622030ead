"""The statements of scripts, the SQL client and the gateway, including those on the session and its jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from scurry.common._config.tables import DML_SYNC
from scurry.common._config.validation import validate
from scurry.common.config_options import JOB_NAME, RUNTIME_MODE
from scurry.errors import JobNotFoundError, ValidationError
from scurry.sql.statements.definitions.catalogs import remove_jar
from scurry.sql.statements.execution import execute
from scurry.sql.statements.inserts import execute_insert, execute_statement_set
from scurry.sql.statements.job_list import JobList, ListedJob
from scurry.sql.statements.names import qualified
from scurry.sql.statements.results import STRING, StatementResult, ok, table_result
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_options import check_setting
from scurry.sql.statements.text import sql_text
from scurry.sql.syntax import nodes
from scurry.sql.syntax.places import failing_in
from scurry.sql.types import LocalZonedTimestampType

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAVEPOINT_DIRECTORIES = ("execution.checkpointing.savepoint-dir", "state.savepoints.dir")
_JOB_COLUMNS = [
    ("job id", STRING),
    ("job name", STRING),
    ("status", STRING),
    ("start time", LocalZonedTimestampType(6)),
]


class ClientStatements:
    """Execute statements one after the other: those of `execute_sql`, and SET, RESET, statement sets and jobs.

    Attributes:
        session: What they are executed in.
        jobs: The jobs that they start.
        collected: The insertions since BEGIN STATEMENT SET, None outside.
    """

    def __init__(self, session: TableSession, jobs: JobList | None = None) -> None:
        """Begin with the settings of a session, to which RESET returns.

        Args:
            jobs: Where jobs are listed; None for a list of this session alone.
        """
        self.session = session
        self.jobs = JobList() if jobs is None else jobs
        self.collected: list[nodes.Insert] | None = None
        self._initial = session.configuration.to_dict()

    def execute(self, statement: nodes.Statement, script: str = "statement", lines_before: int = 0) -> StatementResult:
        """Execute a statement.

        Args:
            script: What errors call the text that it is from.
            lines_before: How many lines of the script come before that text.

        Returns:
            Its answer. That of insertions has the job's identifier; they run in the background.

        Raises:
            ValidationError: Flink would refuse it.
            JobNotFoundError: There is no job of that identifier.
        """
        self.session.script, self.session.lines_before = script, lines_before
        with failing_in(statement, script, lines_before):
            return self._execute(statement)

    def _execute(self, statement: nodes.Statement) -> StatementResult:
        handler = _HANDLERS.get(type(statement))
        if self.collected is not None and not isinstance(statement, nodes.Insert | nodes.EndStatementSet):
            raise ValidationError(
                "Only 'INSERT/CREATE TABLE AS' statement is allowed in Statement Set or use 'END' statement to submit "
                "Statement Set."
            )
        if handler is not None:
            return handler(self, statement)
        with self._asynchronous():
            result = execute(self.session, statement)
        if result.job is None:
            return result
        self.jobs.add(self._job_name(statement), result.job)
        return result if result.is_query or result.names_job else _submitted(result)

    def _asynchronous(self) -> AbstractContextManager[None]:
        """Let insertions run in the background, also with `table.dml-sync`: who executes them waits for the job."""
        waits = self.session.get(DML_SYNC)
        return self.overridden({DML_SYNC.key: "false"}) if waits else nullcontext()

    @contextmanager
    def overridden(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Apply settings to the statements within a `with` block."""
        configuration = self.session.configuration
        before = {key: configuration.to_dict().get(key) for key in settings}
        for key in settings:
            configuration.set_string(key, settings[key])
        self._follow_mode()
        try:
            yield
        finally:
            for key, value in before.items():
                configuration.remove_config(key)
                if value is not None:
                    configuration.set_string(key, value)
            self._follow_mode()

    def _insert(self, statement: nodes.Insert) -> StatementResult:
        if self.collected is not None:
            self.collected.append(statement)
            return ok()
        return self._started([statement], lambda: execute_insert(self.session, statement))

    def _begin(self, statement: nodes.BeginStatementSet) -> StatementResult:
        self.collected = []
        return ok()

    def _end(self, statement: nodes.EndStatementSet) -> StatementResult:
        if self.collected is None:
            raise ValidationError(
                "No Statement Set to submit. 'END' statement should be used after 'BEGIN STATEMENT SET'."
            )
        inserts, self.collected = self.collected, None
        if not inserts:
            return ok()
        return self._started(inserts, lambda: execute_statement_set(self.session, inserts))

    def _execute_wrapped(self, statement: nodes.Execute) -> StatementResult:
        inner = statement.statement
        if isinstance(inner, nodes.StatementSet):
            return self._started(inner.inserts, lambda: execute_statement_set(self.session, inner.inserts))
        return self._execute(inner)

    def _started(self, inserts: Sequence[nodes.Insert], start: Callable[[], StatementResult]) -> StatementResult:
        with self._asynchronous():
            result = start()
        assert result.job is not None
        targets = [qualified(self.session, insert.table).as_summary_string() for insert in inserts]
        self.jobs.add(self.session.get(JOB_NAME) or f"insert-into_{','.join(targets)}", result.job)
        return _submitted(result)

    def _job_name(self, statement: nodes.Statement) -> str:
        return self.session.get(JOB_NAME) or sql_text(statement)

    def _set(self, statement: nodes.Set) -> StatementResult:
        if statement.key is None:
            settings = sorted(self.session.configuration.to_dict().items())
            return table_result([("key", STRING), ("value", STRING)], settings)
        value = statement.value or ""
        validate({statement.key: value})
        check_setting(statement.key, value)
        self.session.configuration.set_string(statement.key, value)
        self._follow_mode()
        return ok()

    def _remove_jar(self, statement: nodes.RemoveJar) -> StatementResult:
        return remove_jar(self.session, statement)

    def _reset(self, statement: nodes.Reset) -> StatementResult:
        configuration = self.session.configuration
        for key in [statement.key] if statement.key is not None else list(configuration.key_set()):
            configuration.remove_config(key)
            if key in self._initial:
                configuration.set_string(key, self._initial[key])
        self._follow_mode()
        return ok()

    def _follow_mode(self) -> None:
        self.session.is_streaming = self.session.get(RUNTIME_MODE) != "BATCH"

    def _show_jobs(self, statement: nodes.ShowJobs) -> StatementResult:
        return table_result(_JOB_COLUMNS, map(_row, self.jobs.newest_first()))

    def _describe_job(self, statement: nodes.DescribeJob) -> StatementResult:
        return table_result(_JOB_COLUMNS, [_row(self._job(statement.job))])

    def _stop_job(self, statement: nodes.StopJob) -> StatementResult:
        job = self._job(statement.job)
        if not statement.with_savepoint:
            job.client.cancel().result()
            return ok()
        directories = (self.session.configuration.get_string(key, "") for key in _SAVEPOINT_DIRECTORIES)
        directory = next(filter(None, directories), None)
        path = job.client.stop_with_savepoint(statement.with_drain, directory).result()
        return table_result([("savepoint path", STRING)], [(path,)])

    def _job(self, job_id: str) -> ListedJob:
        job = self.jobs.find(job_id)
        if job is None:
            raise JobNotFoundError(f"Could not find Flink job ({job_id}); SHOW JOBS lists those of this session")
        return job


def _submitted(result: StatementResult) -> StatementResult:
    """Return the answer of insertions, which run in the background: the identifier of their job."""
    assert result.job is not None
    submitted = table_result([("job id", STRING)], [(str(result.job.get_job_id()),)])
    submitted.job = result.job
    return submitted


def _row(job: ListedJob) -> tuple[str, str, str, int]:
    return job.id, job.name, job.status.name, job.started_ms * 1000


_HANDLERS: dict[type[nodes.Statement], Callable[[ClientStatements, Any], StatementResult]] = {
    nodes.BeginStatementSet: ClientStatements._begin,
    nodes.DescribeJob: ClientStatements._describe_job,
    nodes.EndStatementSet: ClientStatements._end,
    nodes.Execute: ClientStatements._execute_wrapped,
    nodes.Insert: ClientStatements._insert,
    nodes.RemoveJar: ClientStatements._remove_jar,
    nodes.Reset: ClientStatements._reset,
    nodes.Set: ClientStatements._set,
    nodes.ShowJobs: ClientStatements._show_jobs,
    nodes.StopJob: ClientStatements._stop_job,
}
