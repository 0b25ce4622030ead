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


#: Who asks something of a job just now, for its log.
REQUESTER: ContextVar[str] = ContextVar("requester", default="the program")


class JobClient(ApiObject, abc.ABC):
    """Asks things of one job. Each runner has its own; what a runner cannot do fails with `UnsupportedError`."""

    @abc.abstractmethod
    def get_job_id(self) -> JobID:
        """Return the identifier of the job."""

    @abc.abstractmethod
    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return where the job is in its life."""

    @abc.abstractmethod
    def cancel(self) -> CompletableFuture[None]:
        """Stop the job as soon as possible; what it wrote since the last checkpoint may not be committed."""

    @abc.abstractmethod
    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """Stop the job and keep its state.

        Args:
            advance_to_end_of_event_time: Whether to end event time first, which fires all timers and windows.
            savepoint_directory: Where to write the savepoint; `state.savepoints.dir` if not given.

        Returns:
            The path of the savepoint.
        """

    @abc.abstractmethod
    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Save the state of the job, which goes on.

        Args:
            savepoint_directory: Where to write the savepoint; `state.savepoints.dir` if not given.

        Returns:
            The path of the savepoint.
        """

    @abc.abstractmethod
    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return what the job has accumulated so far; it may run or be over.

        Returns:
            The counters that functions registered in their metrics groups, by their name without the operator's,
            added up over all operators, parallel instances and committed micro-batches.
        """

    @abc.abstractmethod
    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """Return the job's metrics so far; it may run or be over. scurry's own, Flink has reporters instead.

        Returns:
            Values as of the last committed micro-batch by `operator.metric`, for metrics in groups
            `operator.group.metric`: a counter's total is an int, a meter's a `MeterResult`, a distribution's a
            `DistributionResult`; a gauge has a dict of its values by index of the subtask. scurry's own metrics are
            ints: `numRecordsOut` of sources and operators, `numRecordsIn` of sinks, `numLateRecordsDropped` of windows,
            `currentOutputWatermark` (ms) where time matters. Operators of one name are counted together.
        """

    @abc.abstractmethod
    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return the outcome of the job, once it is over; fails with `JobError` if the job failed or was cancelled."""
