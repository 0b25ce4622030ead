"""A job as the endpoint serves it, with the operations that clients have started on it."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.completable_future import CompletableFuture
from scurry.common.job_status import JobStatus
from scurry.graph.plan import JobPlan
from scurry.rest.history import History

if TYPE_CHECKING:
    from scurry.runtime.driver.client import RunningJob

#: Number of operations that are kept; Flink drops them after five minutes.
_MOST_REMEMBERED = 100


@dataclass
class Operation:
    """An asynchronous operation on a job.

    Attributes:
        kind: Its kind; operations of one kind have one path.
        delivered: Whether the result was sent to a client.
        asked_at: When a client last requested the result, in seconds of the clock of `Operations`.
    """

    kind: str
    future: CompletableFuture[Any]
    asked_at: float
    delivered: bool = False


class Operations:
    """The operations of a job by their ids."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without operations.

        Args:
            clock: Returns the seconds of a monotonic clock.
        """
        self._clock = clock
        self._operations: dict[str, Operation] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, begin: Callable[[], CompletableFuture[Any]], trigger_id: str | None = None) -> str:
        """Begin an operation, unless one with the same id exists.

        Args:
            begin: Begins the operation and returns its future result.
            trigger_id: The id the client chose, so that it can repeat a request whose answer was lost.

        Raises:
            Exception: The error that `begin` raises.
        """
        with self._lock:
            if trigger_id in self._operations:
                return trigger_id
            trigger_id = trigger_id or uuid.uuid4().hex
            self._operations[trigger_id] = Operation(kind, begin(), self._clock())
            self._forget_the_oldest()
            return trigger_id

    def get(self, kind: str, trigger_id: str) -> Operation | None:
        """Return the operation of a kind and id, or None, and record that a client has requested it."""
        operation = self._operations.get(trigger_id)
        if operation is None or operation.kind != kind:
            return None
        operation.asked_at = self._clock()
        return operation

    def awaited(self, patience: float) -> bool:
        """Return whether a client that has polled in the last `patience` seconds still waits for a result."""
        since = self._clock() - patience
        return any(not one.delivered and one.asked_at >= since for one in list(self._operations.values()))

    def _forget_the_oldest(self) -> None:
        ended = [key for key, operation in self._operations.items() if operation.future.done()]
        for key in ended[: max(0, len(self._operations) - _MOST_REMEMBERED)]:
            del self._operations[key]


@dataclass
class ServedJob:
    """A job and its data at the endpoint.

    Attributes:
        started_ms: When it was submitted, in milliseconds since the epoch.
        operations: Its asynchronous operations.
        history: Its metrics over the last hour.
        ended_ms: When it ended, in milliseconds since the epoch; None while it runs.
        to_archive: Whether its archive is still to be written.
    """

    client: RunningJob
    started_ms: int
    operations: Operations = field(default_factory=Operations)
    history: History = field(default_factory=History)
    ended_ms: int | None = None
    to_archive: bool = False

    @property
    def is_ending(self) -> bool:
        """Return whether the job is over and its archive is being written: its endpoint answers until then."""
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
        return self.plan.settings.job_name

    @property
    def status(self) -> JobStatus:
        """The job's present status."""
        return self.client.get_job_status().result()

    @property
    def duration_ms(self) -> int:
        """Return the duration of the job, in milliseconds."""
        return (self.ended_ms or int(time.time() * 1000)) - self.started_ms
