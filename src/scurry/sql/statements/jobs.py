"""Jobs of statements: their start, and their clients."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from scurry.common.completable_future import CompletableFuture
from scurry.common.job_client import JobClient
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.common.job_status import JobStatus
from scurry.errors import JobCancelledError, JobError, UnsupportedError
from scurry.sql.connectors.contract import Changes
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.statements.results import QueryRows
from scurry.sql.statements.runners import batch_job, runner_for, running
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.streaming_runner import StreamingTableRunner, wait_for

if TYPE_CHECKING:
    from scurry.runtime.driver.client import RunningJob
    from scurry.runtime.driver.job import JobExecution

__all__ = ["StreamingTableJob", "TableJob", "run_query", "run_sinks"]


def run_query(session: TableSession, plan: Plan) -> Iterator[Changes]:
    """Yield the rows of a plan."""
    return runner_for(session).query(session, plan)


def run_sinks(session: TableSession, sinks: Sequence[Sink], numbers: Mapping[Plan, int] | None = None) -> TableJob:
    """Start the job that writes some sinks.

    Args:
        session: The session.
        sinks: Their plans.
        numbers: As for `scurry.sql.statements.inserts.started`.
    """
    runner = runner_for(session)
    if isinstance(runner, StreamingTableRunner):
        return StreamingTableJob(runner.start(session, sinks, numbers))
    execution = batch_job(session, sinks)

    def write() -> None:
        with running(session, execution):
            runner.write_as(execution, session, sinks)

    job = TableJob(lambda: execution.stop("cancelling"))
    job.start(write)
    return job


class TableJob(JobClient):
    """The job of a statement."""

    def __init__(self, on_cancel: Callable[[], None] | None = None) -> None:
        """Begin as created.

        Args:
            on_cancel: Ends what makes the rows of a query, also while another thread waits for them; or an insertion.
        """
        self._on_cancel = on_cancel
        self._id = JobID()
        self._status = JobStatus.CREATED
        self._cancelled = threading.Event()
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._rows: QueryRows | None = None
        self.name = f"table-job-{uuid.uuid4().hex[:8]}"

    def start(self, work: Callable[[], None]) -> None:
        """Do some work in a thread of its own."""
        self._status = JobStatus.RUNNING

        def run() -> None:
            try:
                work()
            except JobCancelledError as error:
                self._end(JobStatus.CANCELED, error)
            except BaseException as error:  # handed to whoever waits
                self._end(JobStatus.FAILED, error)
            else:
                self._end(JobStatus.FINISHED)

        threading.Thread(target=run, name=self.name, daemon=True).start()

    def tracking(self, rows: Iterator[Any]) -> QueryRows:
        """Return the rows of a query, and remember how it ends."""
        self._rows = QueryRows(self._tracked(rows), self.cancel)
        return self._rows

    def _tracked(self, rows: Iterator[Any]) -> Generator[Any, None, None]:
        self._status = JobStatus.RUNNING
        try:
            for row in rows:
                if self._cancelled.is_set():
                    break
                yield row
        except BaseException as error:
            self._end(JobStatus.CANCELED if isinstance(error, GeneratorExit) else JobStatus.FAILED, error)
            raise
        finally:
            # The error that is kept holds this frame, and with it the rows: nobody else would end their job.
            close = getattr(rows, "close", None)
            if close is not None:
                close()
        self._end(JobStatus.CANCELED if self._cancelled.is_set() else JobStatus.FINISHED)

    def _end(self, status: JobStatus, error: BaseException | None = None) -> None:
        self._status, self._error = status, error
        self._ended.set()

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until the job has ended.

        Raises:
            TimeoutError: It has not.
            ScurryError: It failed.
        """
        if not self._ended.wait(None if timeout_ms is None else timeout_ms / 1000):
            raise TimeoutError(f"the job has not ended after {timeout_ms} ms")
        if self._error is not None:
            raise self._error

    def get_job_id(self) -> JobID:
        """Return its identifier."""
        return self._id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return its status."""
        cancelling = self._cancelled.is_set() and self._rows is not None and not self._ended.is_set()
        return CompletableFuture.completed(JobStatus.CANCELLING if cancelling else self._status)

    def cancel(self) -> CompletableFuture[None]:
        """Stop a query of STREAMING at once, one of BATCH at its next row; an insertion on Spark is not interrupted."""
        self._cancelled.set()
        if self._on_cancel is not None:
            self._on_cancel()
        return CompletableFuture.completed(None)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """Fail: the job has no state."""
        raise UnsupportedError("jobs of SQL statements have no savepoints yet")

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Fail: the job has no state."""
        raise UnsupportedError("jobs of SQL statements have no savepoints yet")

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return nothing."""
        return CompletableFuture.completed({})

    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """Return nothing."""
        return CompletableFuture.completed({})

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return the result, once the job has ended; that of a query with many rows ends when they are taken."""
        future: Future[JobExecutionResult] = Future()
        if self._rows is not None:
            self._rows.read_ahead()

        def complete() -> None:
            self._ended.wait()
            if self._error is None:
                future.set_result(JobExecutionResult(self._id, 0))
            else:
                cancelled = isinstance(self._error, JobCancelledError)
                future.set_exception(self._error if cancelled else JobError(str(self._error)))

        threading.Thread(target=complete, daemon=True).start()
        return CompletableFuture(future)


class StreamingTableJob(TableJob):
    """The job of INSERT statements in STREAMING."""

    def __init__(self, job: RunningJob) -> None:
        """Take the job of the graph."""
        super().__init__()
        self._job = job

    @property
    def execution(self) -> JobExecution:
        """The job as it is executed in this process."""
        return self._job.execution

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until the job has ended.

        Raises:
            TimeoutError: It has not.
            ScurryError: It failed.
        """
        wait_for(self._job, timeout_ms)

    def get_job_id(self) -> JobID:
        """Return its identifier."""
        return self._job.get_job_id()

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return its status."""
        return self._job.get_job_status()

    def cancel(self) -> CompletableFuture[None]:
        """Stop the job at the next end of a micro-batch."""
        return self._job.cancel()

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """End the job and save its state; the future gets the savepoint's path."""
        return self._job.stop_with_savepoint(advance_to_end_of_event_time, savepoint_directory)

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Save the job's state while it continues; the future gets the savepoint's path."""
        return self._job.trigger_savepoint(savepoint_directory)

    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """Return the metrics of the committed micro-batches."""
        return self._job.get_metrics()

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return the result, once the job has ended."""
        return self._job.get_job_execution_result()
