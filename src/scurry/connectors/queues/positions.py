"""Streams of messages that keep them: each is a split, read from position to position."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from scurry.connectors.messages import MessageScan
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.connectors.sink import COUNTED, RETRIES
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.connectors.splits import Position, PositionEnumerator
from scurry.errors import SinkConnectionError, SourceConnectionError

T = TypeVar("T")

#: Bytes of messages that a reader holds as a block; one message may be larger.
BLOCK_BYTES = 16 << 20
#: Messages that are fetched at once until their size is known.
FIRST_MESSAGES = 64
#: Pause between attempts to connect again, in seconds.
_PAUSE_SECONDS = 0.25


def patiently(act: Callable[[], T], patience: float = PATIENCE_SECONDS) -> T:
    """Return the result of a function, which is called again for a while if the server is away.

    Raises:
        SourceConnectionError: A source's server has been away for too long.
        SinkConnectionError: A sink's server has.
    """
    give_up = time.monotonic() + patience
    while True:
        try:
            return act()
        except (SourceConnectionError, SinkConnectionError):
            if time.monotonic() > give_up:
                raise
            COUNTED.get()(RETRIES, 1)
            time.sleep(_PAUSE_SECONDS)


class BlockCount:
    """The number of messages that are fetched at once, by the size of those before: their bytes stay near a limit.

    Attributes:
        messages: The number.
    """

    def __init__(self, most: int) -> None:
        """Begin with few.

        Args:
            most: Limit of the number.
        """
        self._most = most
        self.messages = min(most, FIRST_MESSAGES)

    def came(self, messages: int, size: int) -> None:
        """Adapt the number to messages that have come.

        Args:
            messages: How many.
            size: Their bytes.
        """
        if messages:
            self.messages = max(1, min(self._most, BLOCK_BYTES * messages // max(size, 1)))


class StreamReader:
    """Access to the streams of a server from the driver."""

    @abstractmethod
    def streams(self) -> Sequence[str]:
        """Return the names of the streams.

        Raises:
            SourceConnectionError: The server does not answer.
            SourceNotFoundError: A stream is not there.
        """

    @abstractmethod
    def start(self, stream: str) -> Position:
        """Return where reading begins."""

    @abstractmethod
    def advance(self, stream: str, position: Position, limit: int, stop: Position | None) -> Position:
        """Return the position behind at most so many messages, `position` itself without new ones.

        Args:
            stream: The stream.
            position: The position up to which it has been read.
            limit: Number of messages.
            stop: The position where reading ends; None for no end.
        """

    def committed(self, positions: Mapping[str, Position]) -> None:
        """Publish the committed positions."""
        return

    def close(self) -> None:
        """Close the connection."""
        return


class PositionScan(MessageScan):
    """The messages of streams that keep them.

    The driver asks how far streams can be read; tasks fetch the ranges, and may fetch them again.
    """

    #: Seconds between looks for new messages.
    poll_seconds: float = 0.05

    @abstractmethod
    def create_reader(self) -> StreamReader:
        """Return the access to the streams, not connected yet."""

    @property
    def stop(self) -> bool:
        """Return whether reading ends at the messages that there are when the job starts."""
        return False

    @property
    def ends(self) -> bool:
        """Return whether reading ends."""
        return self.stop

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of ranges."""
        return _PatientEnumerator(self, channels, limits)

    def parts(self) -> list[Any]:
        """Return the ranges of all messages that there are now."""
        reader = self.create_reader()
        try:
            found = []
            for stream in reader.streams():
                start = reader.start(stream)
                end = _last(reader, stream, start)
                found += [(stream, start, end)] if end != start else []
            return found
        finally:
            reader.close()

    @abstractmethod
    def messages(self, part: tuple[str, Position, Position]) -> Iterator[Sequence[Any]]:
        """Yield the messages of a range."""


#: Messages over which the driver looks for a position at once.
MOST_AHEAD = 20_000


def _last(reader: StreamReader, stream: str, position: Position) -> Position:
    while (further := reader.advance(stream, position, MOST_AHEAD, None)) != position:
        position = further
    return position


class _Patient:
    """The streams of a scan, without news while the server is away."""

    def __init__(self, scan: PositionScan) -> None:
        self._reader = scan.create_reader()
        self.poll_seconds = scan.poll_seconds
        self.bounded = scan.stop
        self._streams: list[str] = []
        self._ends: dict[str, Position] = {}
        self._away_since: float | None = None
        self._answered = False
        self.reconnects = 0

    def _asked(self, ask: Callable[[], T], otherwise: T, proves: bool) -> T:
        """Return an answer, `otherwise` while the server is away; one that `proves` shows that it is there."""
        try:
            found = ask()
        except SourceConnectionError:
            now = time.monotonic()
            self._away_since = self._away_since or now
            if not self._answered or now > self._away_since + PATIENCE_SECONDS:
                raise
            return otherwise
        if proves:
            self.reconnects += self._away_since is not None
            self._away_since, self._answered = None, True
        return found

    def splits(self) -> Iterable[str]:
        self._streams = self._asked(lambda: list(self._reader.streams()), self._streams, proves=False)
        return self._streams

    def start(self, split: str) -> Position:
        return self._reader.start(split)

    def advance(self, split: str, position: Position, limit: int) -> Position:
        if self.bounded and split not in self._ends:
            self._ends[split] = _last(self._reader, split, position)
        stop, most = self._ends.get(split), min(limit, MOST_AHEAD)
        if stop is not None and position == stop:
            return position
        return self._asked(lambda: self._reader.advance(split, position, most, stop), position, proves=True)

    def committed(self, positions: Mapping[str, Position]) -> None:
        self._reader.committed(positions)

    def close(self) -> None:
        self._reader.close()


class _PatientEnumerator(PositionEnumerator):
    def __init__(self, scan: PositionScan, channels: int, limits: BatchLimits) -> None:
        self._patient = _Patient(scan)
        super().__init__(self._patient, channels, limits.max_records)

    def metrics(self) -> Mapping[str, int]:
        """Return how often the server was lost and found again."""
        return {"numReconnects": self._patient.reconnects}

    def close(self) -> None:
        self._patient.close()
