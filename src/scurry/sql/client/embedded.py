"""EmbeddedExecutor: statements run in the client's own process, or in a Spark session of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scurry.common.job_status import JobStatus
from scurry.sql.client.executor import Cells
from scurry.sql.gateway.operations import Operation
from scurry.sql.gateway.sessions import Session, Sessions
from scurry.sql.statements.job_list import ListedJob
from scurry.sql.statements.results import StatementResult
from scurry.sql.statements.session import TableSession
from scurry.sql.types import DataType

#: Interval at which the waiting main thread notices Ctrl-C.
_SECONDS = 0.1


class EmbeddedExecutor:
    """Executes statements in a session of this process."""

    def __init__(self, settings: Mapping[str, str], context: TableSession | None = None) -> None:
        """Open the session.

        Args:
            context: Catalogs and settings that a program has already, in place of `settings`.
        """
        self._sessions = Sessions(settings, idle_seconds=0)
        self._session = self._sessions.open(context=context)

    def execute(self, text: str, script: str = "", line: int = 1) -> EmbeddedAnswer:
        """Execute a statement.

        Args:
            script: The file that it is from; empty if it was typed.
            line: The line of the file that it begins in.

        Raises:
            ScurryError: It has failed.
            KeyboardInterrupt: The user does not want to wait; the statement is cancelled.
        """
        operation = self.begin(text, script, line)
        try:
            while (result := operation.wait(_SECONDS)) is None:
                pass
        except KeyboardInterrupt:
            operation.cancel()
            raise
        return EmbeddedAnswer(self._session, operation, result)

    def begin(self, text: str, script: str = "", line: int = 1) -> Operation:
        """Begin to execute a statement."""
        return self._session.submit(text, script=script, lines_before=line - 1)

    def forget(self, operation: Operation) -> None:
        """Stop an operation, and the job of its query, and forget its rows."""
        self._session.close_operation(operation.id)

    def complete(self, text: str, position: int) -> list[str]:
        from scurry.sql.gateway.completion import candidates

        return candidates(self._session.statements.session, text, position)

    def settings(self) -> dict[str, str]:
        return self._session.settings

    def running_jobs(self) -> list[ListedJob]:
        """Return the jobs that end with this process."""
        over = JobStatus.is_globally_terminal_state
        return [job for job in self._sessions.jobs.newest_first() if not over(job.status)]

    def close(self) -> None:
        """End the session, and the jobs with it."""
        self._sessions.close_all()
        for job in self.running_jobs():
            job.client.cancel()


class EmbeddedAnswer:
    """The answer of a statement that was executed in this process."""

    def __init__(self, session: Session, operation: Operation, result: StatementResult) -> None:
        self._session, self._operation, self._result = session, operation, result
        self.is_query, self.has_content = result.is_query, result.has_content
        self.job_id = None if result.job is None else str(result.job.get_job_id())

    @property
    def columns(self) -> list[tuple[str, DataType]]:
        schema = self._result.schema
        return list(zip(schema.get_column_names(), schema.get_column_data_types(), strict=True))

    def pages(self) -> Iterator[list[Cells]]:
        """Yield the rows as they come; a page may be empty meanwhile."""
        from scurry.sql.statements.display.values import shown_value

        zone = self._session.statements.session.time_zone
        texts = [shown_value(kind, zone) for _, kind in self.columns]
        token: int | None = 0
        while token is not None:
            page = self._operation.fetch(token)
            yield [
                (kind, [None if v is None else text(v) for text, v in zip(texts, values, strict=True)])
                for kind, values in page.rows
            ]
            token = page.next_token
        self._session.close_operation(self._operation.id)

    def cancel(self) -> None:
        """Cancel the job of a query; no more rows come."""
        self._session.close_operation(self._operation.id)
