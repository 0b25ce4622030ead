"""JobExecutionResult: the outcome of a finished job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scurry.common._api import ApiObject
from scurry.common.job_id import JobID

__all__ = ["JobExecutionResult"]


class JobExecutionResult(ApiObject):
    """The outcome of a job, as Flink's `JobExecutionResult`."""

    def __init__(
        self,
        job_id: JobID,
        net_runtime_ms: int,
        accumulators: Mapping[str, Any] | None = None,
        metrics: Mapping[str, Any] | None = None,
        savepoint_path: str | None = None,
    ) -> None:
        """Describe a finished job.

        Args:
            job_id: Its identifier.
            net_runtime_ms: How long it ran, in milliseconds.
            accumulators: Results of its accumulators by name.
            metrics: Its metrics by operator and name.
            savepoint_path: The savepoint it ended in, if it did.
        """
        self._job_id = job_id
        self._net_runtime_ms = net_runtime_ms
        self._accumulators = dict(accumulators or {})
        self._metrics = dict(metrics or {})
        self._savepoint_path = savepoint_path

    def get_job_id(self) -> JobID:
        """Return the identifier of the job."""
        return self._job_id

    def get_net_runtime(self) -> int:
        """Return how long the job ran, in milliseconds, without the time for planning."""
        return self._net_runtime_ms

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Return the results of the job's accumulators by name, as `JobClient.get_accumulators` does."""
        return dict(self._accumulators)

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """Return the result of an accumulator, or None if it does not exist."""
        return self._accumulators.get(accumulator_name)

    def get_metrics(self) -> dict[str, Any]:
        """Return the job's metrics at its end, as `JobClient.get_metrics` does. scurry's own."""
        return dict(self._metrics)

    def get_savepoint_path(self) -> str | None:
        """Return the savepoint a BATCH job has ended in, None if `scurry.final-savepoint.dir` is not set.

        scurry's own: Flink's batch jobs keep no state.
        """
        return self._savepoint_path

    def __repr__(self) -> str:
        """Return the text for notebooks: `<job 3f2a... finished after 1.2 s>`."""
        return f"<job {self._job_id} finished after {self._net_runtime_ms / 1000:.1f} s>"

    def __str__(self) -> str:
        """Return Flink's report of a finished program."""
        return (
            "Program execution finished\n"
            f"Job with JobID {self._job_id} has finished.\n"
            f"Job Runtime: {self._net_runtime_ms} ms\n"
        )
