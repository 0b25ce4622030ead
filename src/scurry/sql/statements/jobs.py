"""Jobs of statements: their start, and their clients."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

from scurry.common._process import launch, threads
from scurry.common.completable_future import CompletableFuture
from scurry.common.job_client import JobClient
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.common.job_status import JobStatus
from scurry.common.recursion import deep_recursion
from scurry.connectors.collect_sink import CollectedRecords
from scurry.errors import JobCancelledError, ReplayError
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.submit import reserved_id
from scurry.sql.connectors.contract import Changes
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.batch.runners import batch_job, run_here_without_java
from scurry.sql.statements.planning import PlannedStatement
from scurry.sql.statements.streaming_runner import streaming_job, wait_for


def run_query(statement: PlannedStatement) -> Iterator[Changes]:
    """Yield the rows of a query, as the job commits them; cancel the job if not all of them are taken."""
    return QueryJob(statement).changes()


def run_sinks(statement: PlannedStatement, numbers: Mapping[Plan, int] | None = None) -> StatementJob:
    """Start the job that writes the sinks of a statement.

    Args:
        numbers: As for `scurry.sql.statements.inserts.started`.
    """
    job = StatementJob(lambda _: _started(statement, numbers=numbers), JobID)
    job.begin()
    return job


def write_to_end(statement: PlannedStatement) -> None:
    """Run the job that writes the sinks of a statement, to its end."""
    wait_for(_started(statement))


def _started(
    statement: PlannedStatement,
    collected: CollectedRecords[Changes] | None = None,
    numbers: Mapping[Plan, int] | None = None,
    job_id: JobID | None = None,
) -> RunningJob:
    from scurry.rest.endpoint import submit_with_endpoint

    session = statement.session
    run_here_without_java(session)
    if session.is_streaming:
        plan, runner = streaming_job(statement, collected, numbers), None
    else:
        plan, runner = batch_job(statement, collected)
    if (take := launch.current().take_plan) is not None:
        take(plan)
        raise ReplayError(f"the program executes the job {plan.settings.job_name!r} before the one that was captured")
    return submit_with_endpoint(plan, session.configuration, runner, job_id)


class StatementJob(JobClient):
    """The client of a statement's job, which begins when it has to."""

    def __init__(self, start: Callable[[JobID], RunningJob], reserve: Callable[[], JobID]) -> None:
        """Prepare to start the job."""
        self._start = start
        self._id = reserve()
        self._job: RunningJob | None = None
        self._cancelled = False
        self._beginning = threading.Lock()

    def begin(self) -> RunningJob:
        """Start the job, if it has not begun.

        Raises:
            JobCancelledError: It was cancelled before.
            ScurryError: It cannot start.
        """
        with self._beginning:
            if self._job is None:
                if self._cancelled:
                    raise JobCancelledError("the job was cancelled before it began")
                with deep_recursion():
                    self._job = self._start(self._id)
            return self._job

    @property
    def execution(self) -> JobExecution:
        """The job as it is executed in this process; it begins now at the latest."""
        return self.begin().execution

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until the job has ended.

        Raises:
            TimeoutError: It has not.
            ScurryError: It failed.
        """
        wait_for(self.begin(), timeout_ms)

    def get_job_id(self) -> JobID:
        return self._id if self._job is None else self._job.get_job_id()

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return its status; CREATED before it begins."""
        if self._job is None:
            return CompletableFuture.completed(JobStatus.CANCELED if self._cancelled else JobStatus.CREATED)
        status = self._job.get_job_status().result()
        ending = self._cancelled and not status.is_globally_terminal_state()
        return CompletableFuture.completed(JobStatus.CANCELLING if ending else status)

    def cancel(self) -> CompletableFuture[None]:
        """Stop the job: in STREAMING at the next end of a micro-batch, in BATCH now, without a commit."""
        self._cancelled = True
        return CompletableFuture.completed(None) if self._job is None else self._job.cancel()

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """End the job and save its state; the future gets the savepoint's path."""
        return self.begin().stop_with_savepoint(advance_to_end_of_event_time, savepoint_directory)

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Save the job's state while it continues; the future gets the savepoint's path."""
        return self.begin().trigger_savepoint(savepoint_directory)

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return the accumulators of user-defined functions."""
        return CompletableFuture.completed({}) if self._job is None else self._job.get_accumulators()

    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        return CompletableFuture.completed({}) if self._job is None else self._job.get_metrics()

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return the result, once the job has ended; that of a query with many rows ends when they are taken."""
        return self.begin().get_job_execution_result()


class QueryJob(StatementJob):
    """The job of a query, and its rows; it begins when the first row or its outcome is wanted."""

    def __init__(self, statement: PlannedStatement) -> None:
        self._session = statement.session
        self._collected: CollectedRecords[Changes] = CollectedRecords()
        super().__init__(
            lambda job_id: _started(statement, self._collected, job_id=job_id),
            lambda: reserved_id(statement.session.configuration.to_dict()),
        )

    def begin(self) -> RunningJob:
        """Start the job, if it has not begun; its end is that of the rows."""
        is_new = self._job is None
        job = super().begin()
        if is_new:
            job.get_job_execution_result().add_done_callback(lambda _: self._collected.end())
        return job

    def cancel(self) -> CompletableFuture[None]:
        """Stop the job, also while another thread waits for its rows, and end the rows there."""
        done = super().cancel()
        self._collected.end(forget=True)
        return done

    def changes(self) -> Generator[Changes, None, None]:
        """Yield the rows; end the job if not all of them are taken.

        Raises:
            ScurryError: The job failed.
        """
        collected = self._collected
        if self._cancelled:
            return
        job = self.begin()
        try:
            with self._session.watching(job.execution):
                while (block := collected.take()) is not None and not self._cancelled:
                    yield from block
                if not self._cancelled:
                    wait_for(job)  # in here, what watches sees how the job has ended
        finally:
            collected.end(forget=True)
            if not job.get_job_execution_result().done() and not sys.is_finalizing():
                # Garbage collection may end this generator in a thread of the job itself: leave it to another one,
                # but for the end of the process, where a new thread would never begin.
                threads.call_soon(job.cancel, "scurry-cancel")
