"""SplitSource: sources of one's own, written as a few methods about splits and positions."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["Position", "SplitSource"]

#: Where a split is read up to: a number, text, list or dict, as JSON has them.
Position: TypeAlias = Any


class SplitSource(Source):
    """A source that consists of splits, each of which is read from position to position.

    Before every micro-batch the driver asks how far each split can be read now (`advance`), writes that to the
    checkpoint, and only then tasks read it (`read_split`). What is repeated after a failure is the same range, so
    records are processed exactly once if a range always holds the same records.

    The object is pickled and sent to tasks: open files and connections where they are used.

    Attributes:
        bounded: Whether it ends by itself, when no split can be advanced any more. A class that sets this to False is
            asked again and again.
        poll_seconds: How long an unbounded source is left alone when it had nothing new.
    """

    bounded: bool = True
    poll_seconds: float = 0.2

    @abstractmethod
    def splits(self) -> Iterable[str]:
        """Return the names of the splits there are now; on the driver, before each micro-batch.

        Splits keep their order: new ones come last, and one that is not named any more is not read on.
        """

    def start(self, split: str) -> Position:
        """Return where a split begins; 0 unless you override it. Called once per split, on the driver."""
        return 0

    @abstractmethod
    def advance(self, split: str, position: Position, limit: int) -> Position:
        """Return where the next micro-batch ends, or `position` itself if there is nothing new; on the driver.

        Args:
            split: The split.
            position: Where it has been read up to.
            limit: About how many records the micro-batch should take of it.
        """

    @abstractmethod
    def read_split(self, split: str, start: Position, end: Position) -> Iterable[Any]:
        """Return the records from one position, which `start` or `advance` gave, to the next; in a task."""

    def committed(self, positions: Mapping[str, Position]) -> None:
        """Be told up to where the results of a streaming job are committed, perhaps more than once; on the driver."""
        return

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that deals the splits to the readers, round-robin."""
        return _SplitEnumerator(self, self.channels(parallelism), limits.max_records)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of some ranges."""
        declared = self.produced_type
        convert = None if declared is None else declared.block_converter()
        for split, start, end in work:
            records = iter(self.read_split(split, start, end))
            blocks = iter(lambda records=records: list(islice(records, sizer.size)), [])  # type: ignore[misc]
            yield from sliced(blocks if convert is None else map(convert, blocks), sizer)


class _SplitEnumerator(Enumerator):
    def __init__(self, source: SplitSource, channels: int, max_records: int) -> None:
        self._source = source
        self._channels = channels
        self._max_records = max_records
        #: in the order in which they were found, which says who reads them
        self._positions: dict[str, Position] = {}
        self._final: set[int] = set()

    def next_batch(self) -> list[Assignment]:
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
                if self._source.bounded and self._advanced(split, end, limit) != end:
                    going_on.add(number % self._channels)
        self._positions.update((split, end) for part in work for split, _, end in part)
        ending = set(range(self._channels)) - going_on - self._final
        self._final |= ending
        return [
            Assignment(channel, part or None, channel in ending)
            for channel, part in enumerate(work)
            if part or channel in ending
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
        """A position as it will be after a restart."""
        try:
            return json.loads(json.dumps(position))
        except (TypeError, ValueError):
            raise ArgumentError(
                f"{type(self._source).__name__}.{method}() returned {position!r}; positions are kept in checkpoints, "
                "so they are numbers, texts, lists or dicts"
            ) from None

    def position(self) -> dict[str, Any]:
        ended = {"channels": self._channels, "final": sorted(self._final)}
        return {"splits": [list(item) for item in self._positions.items()], **ended}

    def restore(self, position: dict[str, Any]) -> None:
        self._positions = dict(position["splits"])
        # with another number of readers each has to be told anew that there is nothing more
        self._final = set(position["final"]) if position["channels"] == self._channels else set()

    def idle_hint(self) -> float:
        return self._source.poll_seconds

    def committed(self) -> None:
        self._source.committed(dict(self._positions))
