"""SplitSource: the base class of custom sources, defined by a few methods about splits and positions."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol, TypeAlias

from scurry.connectors.source import Assignment, Backlog, BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import ArgumentError, ArgumentTypeError

#: A position in a split: a JSON-able number, text, list or dict.
Position: TypeAlias = Any


class SplitSource(Source):
    """A source that consists of splits, each of which is read from position to position.

    Before every micro-batch the driver asks how far each split can be read now (`advance`) and writes that to the
    checkpoint. Only then do tasks read the range (`read_split`). After a failure the same range is read again, so
    records are processed exactly once if a range always holds the same records.

    The object is pickled and sent to tasks: open files and connections in `read_split`, not in the constructor.

    Attributes:
        bounded: Whether the source ends, when no split can be advanced any more. If False, it is polled indefinitely.
        poll_seconds: Seconds between polls of an unbounded source that had nothing new.
    """

    bounded: bool = True
    poll_seconds: float = 0.2

    @abstractmethod
    def splits(self) -> Iterable[str]:
        """Return the names of the current splits; called on the driver, before each micro-batch.

        Splits keep their order: new ones are added at the end. A split that is no longer returned is no longer read.
        """

    def start(self, split: str) -> Position:
        """Return the position where a split begins, 0 by default; called once per split, on the driver."""
        return 0

    @abstractmethod
    def advance(self, split: str, position: Position, limit: int) -> Position:
        """Return the end of the next micro-batch, or `position` itself if there is nothing new; called on the driver.

        Args:
            split: The split.
            position: The position up to which it has been read.
            limit: Approximate number of records of this split in the micro-batch. It follows the time that batches
                take (`scurry.batch.target-duration`); a position far behind it makes a batch that may take longer.
        """

    @abstractmethod
    def read_split(self, split: str, start: Position, end: Position) -> Iterable[Any]:
        """Return the records between two positions that `start` or `advance` returned; called in a task."""

    def committed(self, positions: Mapping[str, Position]) -> None:
        """Publish the committed positions of a streaming job; called on the driver, possibly repeatedly."""
        return

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that assigns the splits to the readers, round-robin."""
        return PositionEnumerator(self, self.channels(parallelism), limits.max_records)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of the assigned ranges."""
        declared = self.produced_type
        convert = None if declared is None else declared.block_converter()
        for split, start, end in work:
            records = iter(self.read_split(split, start, end))
            blocks = iter(lambda records=records: list(islice(records, sizer.size)), [])  # type: ignore[misc]
            yield from sliced(blocks if convert is None else map(convert, blocks), sizer)


class Positions(Protocol):
    """The splits of a source and how far each can be read, as `SplitSource` has them."""

    poll_seconds: float

    @property
    def bounded(self) -> bool:
        """Return whether the source ends."""

    def splits(self) -> Iterable[str]:
        """Return the names of the current splits."""

    def start(self, split: str) -> Position:
        """Return the position where a split begins."""

    def advance(self, split: str, position: Position, limit: int) -> Position:
        """Return the end of the next micro-batch."""

    def committed(self, positions: Mapping[str, Position]) -> None:
        """Publish the committed positions."""


class PositionEnumerator(Enumerator):
    """Assign ranges of positions: works are lists of split, start and end."""

    def __init__(self, source: Positions, channels: int, max_records: int) -> None:
        """Ask for splits with the first batch."""
        self._source = source
        self._channels = channels
        self._max_records = max_records
        #: in the order of discovery, which determines the channel of each split
        self._positions: dict[str, Position] = {}
        self._final: set[int] = set()
        #: channels that have had an assignment since the start, which makes their splits hold the watermark back
        self._speaking: set[int] = set()
        #: whether a split had more than it was allowed to assign
        self._more = False

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Change the limit of later batches."""
        self._max_records = limits.max_records

    def backlog(self) -> Backlog | None:
        """Return that there is more, if a split was limited."""
        return Backlog() if self._more else None

    def next_batch(self) -> list[Assignment]:
        """Return the ranges of the splits that have something new."""
        self._more = False
        if len(self._final) == self._channels:
            return []
        current = self._discover()
        work: list[list[tuple[str, Position, Position]]] = [[] for _ in range(self._channels)]
        going_on = set() if self._source.bounded else set(range(self._channels))
        limit = max(1, self._max_records // max(1, len(current)))
        for number, (split, position) in enumerate(self._positions.items()):
            if split not in current:
                continue
            end = self._advanced(split, position, limit)
            if end != position:
                work[number % self._channels].append((split, position, end))
                more = self._source.bounded and self._advanced(split, end, limit) != end
                if more:
                    going_on.add(number % self._channels)
                if isinstance(end, int) and isinstance(position, int):
                    more = end - position >= limit  # a source that moves less at once is not held back by the limit
                self._more |= more
        self._positions.update((split, end) for part in work for split, _, end in part)
        ending = set(range(self._channels)) - going_on - self._final
        silent = {number % self._channels for number, split in enumerate(self._positions) if split in current}
        silent -= self._speaking | self._final
        self._speaking |= silent
        self._final |= ending
        return [
            Assignment(channel, part or None, channel in ending)
            for channel, part in enumerate(work)
            if part or channel in ending or channel in silent
        ]

    def _discover(self) -> set[str]:
        names = list(self._source.splits())
        for name in names:
            if not isinstance(name, str):
                raise ArgumentTypeError(f"{type(self._source).__name__}.splits() returns names (str), got {name!r}")
            if name not in self._positions:
                self._positions[name] = self._checked("start", self._source.start(name))
        return set(names)

    def _advanced(self, split: str, position: Position, limit: int) -> Position:
        return self._checked("advance", self._source.advance(split, position, limit))

    def _checked(self, method: str, position: Position) -> Position:
        """Return a position as it will be after a restart: converted to JSON and back."""
        try:
            return json.loads(json.dumps(position))
        except (TypeError, ValueError):
            raise ArgumentError(
                f"{type(self._source).__name__}.{method}() returned {position!r}; positions are kept in checkpoints, "
                "so they are numbers, texts, lists or dicts"
            ) from None

    def position(self) -> dict[str, Any]:
        """Return the positions of all splits."""
        ended = {"channels": self._channels, "final": sorted(self._final)}
        return {"splits": [list(item) for item in self._positions.items()], **ended}

    def restore(self, position: dict[str, Any]) -> None:
        """Continue at earlier positions."""
        self._positions = dict(position["splits"])
        # each of another number of channels has to be marked final again
        self._final = set(position["final"]) if position["channels"] == self._channels else set()

    def idle_hint(self) -> float:
        """Return the seconds between polls."""
        return self._source.poll_seconds

    def committed(self) -> None:
        """Publish the committed positions."""
        self._source.committed(dict(self._positions))
