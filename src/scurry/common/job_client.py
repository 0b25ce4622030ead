"""JobClient: the handle of a submitted job."""

from __future__ import annotations

import abc
from contextvars import ContextVar
from typing import Any

from scurry.common._api import ApiObject
from scurry.common.completable_future import CompletableFuture
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.common.job_status import JobStatus

__all__ = ["JobClient"]


#: The sender of the current request to a job, for the job's log.
REQUESTER: ContextVar[str] = ContextVar("requester", default="the program")


class JobClient(ApiObject, abc.ABC):
    """The handle of a job (Flink's `JobClient`). Requests that its runner does not support fail: `UnsupportedError`."""

    @abc.abstractmethod
    def get_job_id(self) -> JobID:
        """Return the identifier of the job."""

    @abc.abstractmethod
    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return the status of the job."""

    @abc.abstractmethod
    def cancel(self) -> CompletableFuture[None]:
        """Stop the job as soon as possible; output since the last checkpoint may not be committed."""

    @abc.abstractmethod
    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """Stop the job with a savepoint.

        Args:
            advance_to_end_of_event_time: Whether to end event time first, which fires all timers and windows.
            savepoint_directory: Where to write the savepoint; `state.savepoints.dir` if not given.

        Returns:
            The path of the savepoint.
        """

    @abc.abstractmethod
    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Trigger a savepoint of the job, which keeps running.

        Args:
            savepoint_directory: Where to write the savepoint; `state.savepoints.dir` if not given.

        Returns:
            The path of the savepoint.
        """

    @abc.abstractmethod
    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return the job's accumulators so far; the job may be running or over.

        Returns:
            The counters that functions registered in their metrics groups, by their name without the operator's,
            added up over all operators, subtasks and committed micro-batches.
        """

    @abc.abstractmethod
    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """Return the job's metrics so far; the job may be running or over. scurry's own; Flink has reporters instead.

        Returns:
            Values as of the last committed micro-batch by `operator.metric`, for metrics in groups
            `operator.group.metric`: a counter's total is an int, a meter's a `MeterResult`, a distribution's a
            `DistributionResult`; a gauge has a dict of its values by index of the subtask. scurry's own metrics are
            ints: `numRecordsOut` of sources and operators, `numRecordsIn` of sinks and of operators that take records
            from an exchange, `numLateRecordsDropped` of windows, `currentOutputWatermark` (ms) where time matters.
            Operators whose name is not their own have their uid in its place.
        """

    @abc.abstractmethod
    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return the outcome of the job, once it is over; fails with `JobError` if the job failed or was cancelled."""
