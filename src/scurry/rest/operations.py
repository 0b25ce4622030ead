"""What was asked of a job over HTTP and takes its time: clients start it, get an id, and ask for the outcome."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scurry.common.completable_future import CompletableFuture

__all__ = ["Operation", "Operations"]

#: Outcomes that are remembered; Flink forgets them after five minutes.
_MOST_REMEMBERED = 100


@dataclass
class Operation:
    """Something asked of a job.

    Attributes:
        kind: What it is: operations of one kind are found under one path.
        future: Its outcome.
        delivered: Whether a client has been delivered the outcome.
        asked_at: When a client last asked, on the monotonic clock.
    """

    kind: str
    future: CompletableFuture[Any]
    delivered: bool = False
    asked_at: float = field(default_factory=time.monotonic)


class Operations:
    """The operations of a job by their ids."""

    def __init__(self) -> None:
        """Know of none yet."""
        self._operations: dict[str, Operation] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, begin: Callable[[], CompletableFuture[Any]], trigger_id: str | None = None) -> str:
        """Begin an operation, unless it was begun before under the same id.

        Args:
            kind: Its kind.
            begin: Asks the job.
            trigger_id: The id the client wants for it, so that it can repeat a request whose answer was lost.

        Returns:
            The operation's id.

        Raises:
            Exception: What `begin` raises.
        """
        with self._lock:
            if trigger_id in self._operations:
                return trigger_id
            trigger_id = trigger_id or uuid.uuid4().hex
            self._operations[trigger_id] = Operation(kind, begin())
            self._forget_the_oldest()
            return trigger_id

    def get(self, kind: str, trigger_id: str) -> Operation | None:
        """Return an operation a client asks for; None if there is none of that kind and id."""
        operation = self._operations.get(trigger_id)
        if operation is None or operation.kind != kind:
            return None
        operation.asked_at = time.monotonic()
        return operation

    def awaited(self, patience: float) -> bool:
        """Whether a client that has asked in the last `patience` seconds has yet to be delivered an outcome."""
        since = time.monotonic() - patience
        return any(not one.delivered and one.asked_at >= since for one in list(self._operations.values()))

    def _forget_the_oldest(self) -> None:
        ended = [key for key, operation in self._operations.items() if operation.future.done()]
        for key in ended[: max(0, len(self._operations) - _MOST_REMEMBERED)]:
            del self._operations[key]
