"""RangeEnumerator: assigns each channel a contiguous part of a range, in ascending order; ranges of numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, cast

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import ArgumentError


def split_range(start: int, stop: int, parts: int) -> list[tuple[int, int]]:
    """Cut `start..stop` (exclusive) into contiguous parts whose sizes differ by at most one, the larger ones first."""
    size, larger = divmod(max(0, stop - start), parts)
    cuts = [start + i * size + min(i, larger) for i in range(parts + 1)]
    return list(zip(cuts, cuts[1:], strict=False))


@dataclass(frozen=True)
class NumericRanges:
    """Ranges of a column of a table, which leave out smaller and larger numbers and NULL, as in Flink.

    Attributes:
        column: The column.
        lower: The smallest number.
        upper: The largest number.
        number: Number of ranges; fewer if there are fewer numbers.
    """

    column: str
    lower: int
    upper: int
    number: int

    def all(self) -> list[tuple[int, int]]:
        """Return the first and the last number of each range."""
        parts = split_range(self.lower, self.upper + 1, self.number)
        return [(start, stop - 1) for start, stop in parts if stop > start]


class RangeEnumerator(Enumerator):
    """Assign every channel a contiguous part of a range, in batches of limited size."""

    def __init__(
        self,
        start: int,
        stop: int,
        channels: int,
        max_records: int,
        make_work: Callable[[int, int], Any] = lambda start, stop: (start, stop),
        fitting: Callable[[int, int], int] = lambda start, stop: stop,
    ) -> None:
        """Split `start..stop` (exclusive) over the channels.

        Args:
            start: First index.
            stop: Index after the last.
            channels: Number of readers.
            max_records: Indices assigned per batch, over all channels; each unfinished channel gets at least one.
            make_work: Turns a part `start, stop` into picklable work.
            fitting: Returns the largest acceptable end, after `start`, of a part `start, stop` to be assigned.
        """
        self._channels = channels
        self._max_records = max_records
        self._make_work = make_work
        self._fitting = fitting
        #: whether the limit is that of each channel, and the channels that wait for others
        self._aligned, self._held = False, cast(Collection[int], ())
        #: the parts that each channel still has to read; None once the channel is final
        self._pending: list[list[tuple[int, int]] | None] = [
            [part] if part[0] < part[1] else [] for part in split_range(start, stop, channels)
        ]

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Limit the indices of later batches to the number of records."""
        self._max_records = limits.max_records

    def align(self, held: Collection[int]) -> None:
        """Hold channels back, and limit each other one by itself."""
        self._aligned, self._held = True, held

    def expects(self, channel: int) -> bool:
        """Return whether indices are left for a channel."""
        return bool(self._pending[channel])

    def backlog(self) -> Backlog | None:
        """Return the number of unassigned indices."""
        if not self._aligned:
            return Backlog(self._left())
        channels = {n: sum(stop - start for start, stop in parts) for n, parts in enumerate(self._pending) if parts}
        return Backlog(sum(channels.values()), channels=channels)

    def _left(self) -> int:
        return sum(stop - start for parts in self._pending if parts for start, stop in parts)

    def next_batch(self) -> list[Assignment]:
        """Return the next part for every unfinished channel."""
        active = [(channel, parts) for channel, parts in enumerate(self._pending) if parts is not None]
        remaining = self._left()
        busy = sum(1 for _, parts in active if parts)
        quota = remaining if remaining <= self._max_records else max(1, self._max_records // busy)
        if self._aligned:
            quota = self._max_records
        assignments = []
        for channel, parts in active:
            if channel in self._held:
                continue
            if not parts:
                assignments.append(Assignment(channel, None, True))
                self._pending[channel] = None
                continue
            start, stop = parts[0]
            end = self._fitting(start, min(stop, start + quota))
            parts[:1] = [(end, stop)] if end < stop else []
            assignments.append(Assignment(channel, self._make_work(start, end), not parts, end - start))
            if not parts:
                self._pending[channel] = None
        return assignments

    def position(self) -> dict[str, Any]:
        """Return the parts that each channel still has to read (null for a finished one)."""
        return {"pending": [None if parts is None else [list(part) for part in parts] for parts in self._pending]}

    def restore(self, position: dict[str, Any]) -> None:
        """Continue with the remaining parts; deal them in ascending order if the number of channels has changed."""
        saved: list[list[list[int]] | None] = position["pending"]
        if len(saved) == self._channels:
            self._pending = [None if parts is None else [(a, b) for a, b in parts] for parts in saved]
            return
        left = sorted((a, b) for parts in saved for a, b in parts or [])
        self._pending = [left[channel :: self._channels] for channel in range(self._channels)]


class NumberSequenceSource(Source):
    """A bounded source of the numbers from `start` to `end`, both included.

    Each parallel reader produces a contiguous part in ascending order.
    """

    def __init__(self, start: int, end: int) -> None:
        """Create a source of a range of integers.

        Args:
            start: The first number.
            end: The last number.

        Raises:
            ArgumentError: The end is smaller than the start.
        """
        if end < start:
            raise ArgumentError(f"a number sequence needs start <= end, got {start} and {end}")
        self.start = start
        self.end = end

    @property
    def produced_type(self) -> TypeInformation | None:
        """LONG."""
        return Types.LONG()

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that assigns sub-ranges."""
        return RangeEnumerator(self.start, self.end + 1, self.channels(parallelism), limits.max_records)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the numbers of one sub-range."""
        return sliced([range(*work)], sizer)
