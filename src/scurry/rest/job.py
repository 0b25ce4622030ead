"""The interfaces through which the endpoint reads and operates a job."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scurry.common.completable_future import CompletableFuture
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.common.job_status import JobStatus
from scurry.graph.plan import JobPlan
from scurry.rest.metrics.history import History
from scurry.rest.operations import Operations

__all__ = ["OperableJob", "ServedJob"]


class OperatorState(Protocol):
    """The state of an operator in a checkpoint."""

    @property
    def total(self) -> Sequence[int]:
        """Its bytes, by subtask."""

    @property
    def written(self) -> Sequence[int]:
        """The bytes that the micro-batch has written, by subtask."""


class Checkpoint(Protocol):
    """A completed checkpoint."""

    @property
    def checkpoint_id(self) -> int:
        """The id of the micro-batch."""

    @property
    def trigger_timestamp_ms(self) -> int:
        """When the micro-batch began, in milliseconds since the epoch."""

    @property
    def duration_ms(self) -> int:
        """How long the micro-batch took."""

    @property
    def state_size_bytes(self) -> int | None:
        """Size of all state after the micro-batch, None if unknown."""

    @property
    def states(self) -> Mapping[int, OperatorState]:
        """Number of an operator in the plan -> its state; operators without state are missing."""

    @property
    def phases(self) -> Mapping[str, int]:
        """What the micro-batch spent its time with: phase -> milliseconds."""

    @property
    def source_positions(self) -> Mapping[str, Any]:
        """Source uid -> position of the source after the micro-batch."""


class Failure(Protocol):
    """One failure of a job."""

    @property
    def timestamp_ms(self) -> int:
        """When the job failed, in milliseconds since the epoch."""

    @property
    def text(self) -> str:
        """The message, beginning with the user's part."""

    @property
    def details(self) -> str:
        """The full description, with tracebacks."""

    @property
    def error(self) -> str:
        """Name of the exception's class."""

    @property
    def operator(self) -> str | None:
        """Name of the operator that failed, None if none did."""


class DeadLetter(Protocol):
    """A record that went to dead letters."""

    @property
    def timestamp_ms(self) -> int:
        """When, in milliseconds since the epoch."""

    @property
    def operator(self) -> str:
        """Name of the operator or source."""

    @property
    def subtask(self) -> int:
        """The subtask."""

    @property
    def record(self) -> str:
        """The record, shortened."""

    @property
    def error(self) -> str:
        """Name of the exception's class."""

    @property
    def message(self) -> str:
        """The exception's message."""

    @property
    def place(self) -> str | None:
        """Where a source has read it, None if unknown."""

    @property
    def line(self) -> int | None:
        """The line there, None if there are no lines."""


class DeadLetters(Protocol):
    """Samples of the records that went to dead letters."""

    @property
    def latest(self) -> Collection[DeadLetter]:
        """The latest, the oldest first."""


class Log(Protocol):
    """The log of a job."""

    @property
    def records(self) -> Collection[logging.LogRecord]:
        """The latest records, the oldest first."""

    def note(self, text: str) -> None:
        """Write something that the user should know, once."""


class Execution(Protocol):
    """The driver side of a job."""

    @property
    def log(self) -> Log:
        """The log of the job."""

    @property
    def dead_letters(self) -> DeadLetters:
        """Samples of the records that went to dead letters."""

    @property
    def spark_ui(self) -> str | None:
        """The address of Spark's own web page, None if there is none."""

    page: tuple[str, str | None] | None

    @property
    def plan(self) -> JobPlan:
        """The current plan; rescaling replaces it."""

    @property
    def failures(self) -> Collection[Failure]:
        """The latest failures, the oldest first."""

    def operator_metrics(self) -> dict[int, dict[str, Any]]:
        """Return all metrics: number in the plan -> metric -> value over all subtasks."""

    def subtask_metrics(self) -> dict[int, dict[str, dict[int, float]]]:
        """Return scurry's own metrics: number in the plan -> metric -> subtask -> value."""

    def user_metrics(self) -> dict[int, dict[str, dict[int, float]]]:
        """Return the metrics of user functions: number in the plan -> full name -> subtask -> value."""

    @property
    def restored_checkpoints(self) -> int:
        """How often the job has begun with the state of a checkpoint or savepoint."""


class OperableJob(Protocol):
    """The part of a running job's client that the endpoint uses."""

    @property
    def execution(self) -> Execution:
        """The job's driver side."""

    def get_job_id(self) -> JobID:
        """Return the job's id."""

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return the job's present status."""

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return the job's result, available once it has ended."""

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return the accumulators of the committed batches."""

    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """Return the metrics of the committed batches."""

    def cancel(self) -> CompletableFuture[None]:
        """Stop the job at the next batch boundary."""

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Take a savepoint while the job runs."""

    def dispose_savepoint(self, path: str) -> None:
        """Delete a savepoint, which may be that of another job."""

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """Stop the job with a savepoint."""

    def trigger_checkpoint(self) -> CompletableFuture[None]:
        """Wait until all that the job has begun to process is committed."""

    def checkpoints(self) -> Sequence[Checkpoint]:
        """Return the checkpoints of the job, the oldest first."""

    def query_state(self, operator: str, name: str, key: Any) -> CompletableFuture[Any]:
        """Return the last committed value of a key, None if it has none."""

    def rescale(self, parallelism: int) -> CompletableFuture[None]:
        """Change the number of subtasks."""


@dataclass
class ServedJob:
    """A job and its data at the endpoint.

    Attributes:
        client: The job.
        started_ms: When it was submitted, in milliseconds since the epoch.
        operations: Its asynchronous operations.
        history: Its metrics over the last hour.
        ended_ms: When it ended, in milliseconds since the epoch; None while it runs.
        to_archive: Whether its archive is still to be written.
    """

    client: OperableJob
    started_ms: int
    operations: Operations = field(default_factory=Operations)
    history: History = field(default_factory=History)
    ended_ms: int | None = None
    to_archive: bool = False

    @property
    def is_ending(self) -> bool:
        """Whether it is over and its archive is being written: until then its endpoint answers."""
        return self.to_archive and self.status.is_globally_terminal_state()

    @property
    def id(self) -> str:
        """The job's id, 32 hexadecimal digits."""
        return str(self.client.get_job_id())

    @property
    def plan(self) -> JobPlan:
        """The job's present plan."""
        return self.client.execution.plan

    @property
    def name(self) -> str:
        """The job's name."""
        return self.plan.settings.job_name

    @property
    def status(self) -> JobStatus:
        """The job's present status."""
        return self.client.get_job_status().result()

    @property
    def duration_ms(self) -> int:
        """How long the job has run, in milliseconds."""
        return (self.ended_ms or int(time.time() * 1000)) - self.started_ms
