"""What the endpoint knows of a job and asks of it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scurry.common.completable_future import CompletableFuture
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.common.job_status import JobStatus
from scurry.graph.plan import JobPlan
from scurry.rest.operations import Operations

__all__ = ["OperableJob", "ServedJob"]


class Checkpoint(Protocol):
    """A completed checkpoint."""

    @property
    def checkpoint_id(self) -> int:
        """The micro-batch."""

    @property
    def trigger_timestamp_ms(self) -> int:
        """When the micro-batch began."""

    @property
    def duration_ms(self) -> int:
        """How long it took."""

    @property
    def state_size_bytes(self) -> int | None:
        """Size of all state after it, None if unknown."""

    @property
    def source_positions(self) -> Mapping[str, Any]:
        """Source uid -> where the source stood after it."""


class Failure(Protocol):
    """One time that a job failed."""

    @property
    def timestamp_ms(self) -> int:
        """When."""

    @property
    def text(self) -> str:
        """What went wrong, the user's side first."""

    @property
    def details(self) -> str:
        """The whole story, with tracebacks."""

    @property
    def error(self) -> str:
        """Name of the exception's class."""

    @property
    def operator(self) -> str | None:
        """Name of the operator, None if none is to blame."""


class Execution(Protocol):
    """The driver side of a job."""

    @property
    def plan(self) -> JobPlan:
        """What it executes now: rescaling replaces it."""

    @property
    def failures(self) -> Collection[Failure]:
        """The latest failures, the oldest first."""


class OperableJob(Protocol):
    """The client of a running job, as far as the endpoint needs it."""

    @property
    def execution(self) -> Execution:
        """The job's driver side."""

    def get_job_id(self) -> JobID:
        """The job's id."""

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """The job's status now."""

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """The job's outcome, once it has ended."""

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """What the committed batches have counted."""

    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """The metrics of the committed batches."""

    def cancel(self) -> CompletableFuture[None]:
        """Stops the job at the next batch boundary."""

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Saves the state of the job, which goes on."""

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """Stops the job and keeps its state."""

    def checkpoints(self) -> Sequence[Checkpoint]:
        """The checkpoints the job has taken, the oldest first."""

    def query_state(self, operator: str, name: str, key: Any) -> CompletableFuture[Any]:
        """The last committed value of a key, None if it has none."""

    def rescale(self, parallelism: int) -> CompletableFuture[None]:
        """Goes on with another number of subtasks."""


@dataclass
class ServedJob:
    """A job with what its endpoint keeps about it.

    Attributes:
        client: The job.
        started_ms: When it was submitted, in milliseconds since the epoch.
        operations: What was asked of it and takes its time.
        ended_ms: When it was over, in milliseconds since the epoch; None while it runs.
    """

    client: OperableJob
    started_ms: int
    operations: Operations = field(default_factory=Operations)
    ended_ms: int | None = None

    @property
    def id(self) -> str:
        """The job's id, 32 hexadecimal digits."""
        return str(self.client.get_job_id())

    @property
    def plan(self) -> JobPlan:
        """The job's plan now."""
        return self.client.execution.plan

    @property
    def name(self) -> str:
        """The job's name."""
        return self.plan.settings.job_name

    @property
    def status(self) -> JobStatus:
        """The job's status now."""
        return self.client.get_job_status().result()

    @property
    def duration_ms(self) -> int:
        """How long the job has been running, or ran."""
        return (self.ended_ms or int(time.time() * 1000)) - self.started_ms
