"""Queues that hand messages out instead of keeping them: the driver receives, and messages are the assignments.

Such a queue has no positions to read again from. An assignment is logged before a task sees it, so a repeated
micro-batch has the same messages; the queue gets its acknowledgements when they are committed.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event, Lock, Thread
from typing import Any

from scurry.connectors.messages import MessageScan
from scurry.connectors.source import MEASURED, Assignment, Backlog, BatchLimits, Enumerator
from scurry.errors import ConnectorError, SourceConnectionError, UnsupportedError

#: Limit of the messages that wait to be assigned; connectors let the server wait while there are more.
MOST_WAITING = 20_000
#: Limit of their bytes.
MOST_WAITING_BYTES = 64 << 20
#: Longest time that a server may be away, in seconds, once it has answered.
PATIENCE_SECONDS = 60.0
#: Pause between attempts to connect again, in seconds.
_PAUSE_SECONDS = 0.25
#: Seconds after which the driver asks for messages again, when there were none.
_POLL_SECONDS = 0.02


class Renewal(Exception):
    """Raised by `receive` to connect anew, with other settings, to a server that has not been lost."""


class Receiver(ABC):
    """The messages of a queue, received in a thread of the driver.

    Connectors connect, receive for a moment, and disconnect. If the connection breaks, messages that nobody has taken
    are forgotten, because the server sends them again.
    """

    #: Errors of a connection that broke.
    broken: tuple[type[Exception], ...] = (OSError,)

    def __init__(self) -> None:
        """Receive nothing yet."""
        self._messages: deque[Any] = deque()
        #: bytes of the messages that wait
        self._bytes = 0
        self._counting = Lock()
        self._error: Exception | None = None
        self._thread: Thread | None = None
        self._closing = Event()
        #: connections that were made after one that broke
        self.reconnects = 0
        #: when connections began to break without a message between
        self._fruitless_since: float | None = None

    @abstractmethod
    def connect(self) -> None:
        """Connect, and begin to receive.

        Raises:
            SourceConnectionError: The server cannot be reached, or refuses.
        """

    @abstractmethod
    def receive(self) -> None:
        """Wait a moment for messages, and call `received` for each, or `received_together`."""

    @abstractmethod
    def failure(self, reason: Exception) -> ConnectorError:
        """Return the error of connections that break again and again, one of `broken`."""

    @abstractmethod
    def disconnect(self) -> None:
        """Close the connection, which may be broken."""

    @abstractmethod
    def acknowledge(self) -> None:
        """Acknowledge all messages that have been taken; called by the driver."""

    @abstractmethod
    def size(self, message: Any) -> int:
        """Return the number of bytes of a message."""

    def accepted(self, messages: list[Any]) -> list[Any]:
        """Return those of the messages just taken that were not assigned before."""
        return messages

    def position(self) -> dict[str, Any]:
        """Return the position after the last messages taken, as JSON-able data."""
        return {}

    def restore(self, position: dict[str, Any]) -> None:
        """Continue behind earlier assignments; called before messages are taken."""
        return

    def received(self, message: Any) -> None:
        """Keep a message until it is taken; called by `receive`."""
        self.received_together((message,))

    def received_together(self, messages: Sequence[Any]) -> None:
        """Keep messages until they are taken; called by `receive`."""
        size = sum(map(self.size, messages))
        with self._counting:
            self._bytes += size
            self._messages.extend(messages)
        self._fruitless_since = None

    def forget(self) -> None:
        """Forget the messages that wait, which the server sends again."""
        with self._counting:
            self._messages.clear()
            self._bytes = 0

    @property
    def waiting(self) -> int:
        """Return how many messages wait to be taken."""
        return len(self._messages)

    @property
    def is_full(self) -> bool:
        """Return whether no more messages may wait: connectors let the server wait meanwhile."""
        return self.waiting >= MOST_WAITING or self._bytes >= MOST_WAITING_BYTES

    def take(self, most: int, most_bytes: int) -> list[Any]:
        """Return received messages that were not assigned before, up to some number and some bytes, at least one.

        Raises:
            SourceConnectionError: The server cannot be reached, or has been away for too long.
        """
        if self._thread is None:
            self.connect()
            self._thread = Thread(target=self._run, name=f"scurry-{type(self).__name__}", daemon=True)
            self._thread.start()
        if self._error is not None:
            raise self._error
        return self.accepted(self._taken_off(most, most_bytes))

    def _taken_off(self, most: int, most_bytes: int) -> list[Any]:
        """Return messages that waited: all, if they are within the limits."""
        with self._counting:  # the connection may break meanwhile
            waiting, size = self._messages, 0
            if len(waiting) <= most and self._bytes <= most_bytes:
                self._messages, self._bytes = deque(), 0
                return list(waiting)
            taken: list[Any] = []
            while waiting and len(taken) < most and size < most_bytes:
                taken.append(waiting.popleft())
                size += self.size(taken[-1])
            self._bytes -= size
        return taken

    def _run(self) -> None:
        connected = time.monotonic()
        while not self._closing.is_set():
            try:
                self.receive()
            except Renewal as error:
                self.forget()
                self._connect_again(error)
                connected = time.monotonic()
            except self.broken as error:
                self.forget()
                if self._breaks_too_often(connected):
                    self._error = self.failure(error)
                elif not self._closing.is_set():
                    self._connect_again(error)
                connected = time.monotonic()
            except Exception as error:
                self._error = error
            if self._error is not None:
                break
        self.disconnect()

    def _breaks_too_often(self, connected: float) -> bool:
        """Return whether connections, the last one since `connected`, have broken for too long without a message."""
        now = time.monotonic()
        if self._fruitless_since is None or now > connected + PATIENCE_SECONDS:
            self._fruitless_since = now
        return now > self._fruitless_since + PATIENCE_SECONDS

    def _connect_again(self, reason: Exception) -> None:
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not self._closing.wait(_PAUSE_SECONDS):
            self.disconnect()
            try:
                self.connect()
            except SourceConnectionError as error:
                if time.monotonic() > give_up:
                    self._error = error
                    self._error.__cause__ = reason
                    return
            except Exception as error:
                self._error = error
                return
            else:
                self.reconnects += not isinstance(reason, Renewal)
                return

    def close(self) -> None:
        """End the thread and the connection."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(10)


class ReceivingEnumerator(Enumerator):
    """Assign the messages that a receiver has to the only channel."""

    def __init__(self, receiver: Receiver, limits: BatchLimits) -> None:
        """Connect with the first batch."""
        self._receiver, self._limits = receiver, limits
        self._spoken = False

    def next_batch(self) -> list[Assignment]:
        """Return the messages that have been received."""
        messages = self._receiver.take(self._limits.max_records, self._limits.max_bytes)
        silent, self._spoken = not self._spoken, True  # an empty queue holds the watermark back from the beginning
        return [Assignment(0, [messages] if messages else None, False, len(messages))] if messages or silent else []

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Change the limits of later batches."""
        self._limits = limits

    def backlog(self) -> Backlog:
        """Return the number of messages that wait here; those that the server keeps are not known."""
        return Backlog(self._receiver.waiting)

    def metrics(self) -> Mapping[str, int]:
        """Return how often the server was lost and found again."""
        return {"numReconnects": self._receiver.reconnects}

    def position(self) -> dict[str, Any]:
        """Return the position of the receiver."""
        return self._receiver.position()

    def restore(self, position: dict[str, Any]) -> None:
        """Continue behind earlier assignments."""
        self._receiver.restore(position)

    def idle_hint(self) -> float:
        """Return a short time: messages are received meanwhile."""
        return _POLL_SECONDS

    def committed(self) -> None:
        """Acknowledge all messages that are assigned."""
        self._receiver.acknowledge()

    def close(self) -> None:
        """Close the connection."""
        self._receiver.close()


class ReceivingScan(MessageScan):
    """The messages of a queue that the driver receives."""

    @property
    def ends(self) -> bool:
        """Return False: queues do not end."""
        return False

    def channels(self, parallelism: int) -> int:
        """Return 1: one connection receives, which keeps the order of the queue."""
        return 1

    @abstractmethod
    def create_receiver(self) -> Receiver:
        """Return the receiver, not connected yet."""

    @abstractmethod
    def size(self, message: Any) -> int:
        """Return the number of bytes of a message."""

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of received messages."""
        return ReceivingEnumerator(self.create_receiver(), limits)

    def messages(self, part: Any) -> Iterator[Sequence[Any]]:
        """Yield the messages of an assignment."""
        MEASURED.get()(len(part), sum(map(self.size, part)))
        yield part

    def parts(self) -> list[Any]:
        """Raise an error.

        Raises:
            UnsupportedError: Always: the messages of a queue do not end.
        """
        raise UnsupportedError(
            "the messages of a queue do not end: read it in STREAMING (SET 'execution.runtime-mode')"
        )


#: Acknowledged ids that are remembered, in case that the server loses acknowledgements when it dies.
MOST_ACKNOWLEDGED = 10_000
#: Ids of earlier attempts that are remembered: a server has no more messages on their way.
MOST_RESTORED = 65_536
#: Seconds for which ids of an earlier attempt are remembered: the server sends their messages again within them.
_RESTORED_SECONDS = 600.0


class SeenIds:
    """Ids of messages that were assigned, which tell messages that a queue sends again.

    Ids that are not acknowledged are all kept; of acknowledged ones those of the last messages.
    """

    def __init__(self, unacknowledged: int = MOST_WAITING, now: Callable[[], float] = time.monotonic) -> None:
        """Know no ids.

        Args:
            unacknowledged: Messages that the server sends before it waits for acknowledgements, all of which it may
                send again: so many acknowledged ids are remembered, if that is more than `MOST_ACKNOWLEDGED`.
            now: A clock of seconds.
        """
        self._now = now
        self._kept = max(MOST_ACKNOWLEDGED, unacknowledged)
        #: ids in their order
        self._assigned: dict[str, None] = {}
        self._acknowledged: dict[str, None] = {}
        self._restored: dict[str, None] = {}
        self._forget_at = 0.0

    def add(self, key: str) -> bool:
        """Note an id; return whether it is new."""
        if key in self._assigned or key in self._acknowledged or key in self._restored:
            return False
        self._assigned[key] = None
        return True

    @property
    def unacknowledged(self) -> int:
        """Return how many ids wait for a commit."""
        return len(self._assigned)

    def acknowledged(self) -> None:
        """Note that all ids so far are acknowledged."""
        known = self._acknowledged
        known.update(self._assigned)
        self._assigned.clear()
        while len(known) > self._kept:
            del known[next(iter(known))]
        if self._restored and self._now() > self._forget_at:
            self._restored.clear()

    def listed(self) -> list[str]:
        """Return all ids that are known."""
        return [*self._restored, *self._acknowledged, *self._assigned]

    def restore(self, listed: Sequence[str]) -> None:
        """Know the last ids that an earlier attempt knew."""
        self._restored = dict.fromkeys(listed[-MOST_RESTORED:])
        self._forget_at = self._now() + _RESTORED_SECONDS
