"""DataGeneratorSource: generates records with a function of their index, at a chosen rate."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.ranges import split_range
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import ArgumentError


class DataGeneratorSource(Source):
    """A source of `generator_function(0), generator_function(1), ...`, endless or counted: Flink's data generator.

    After a restart it continues with the index after the last one read. The function should depend only on the index,
    so that replayed records are the same.
    """

    def __init__(
        self,
        generator_function: Callable[[int], Any],
        count: int | None = None,
        records_per_second: float | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        """Describe the records.

        Args:
            generator_function: A function from an index to a record, or an object with such a method `map`.
            count: The number of records; None for an endless source.
            records_per_second: The rate of all readers together; None for no limit.
            type_info: Type of the records; None leaves them unconverted.

        Raises:
            ArgumentError: The count is negative, or the rate is not positive.
        """
        if count is not None and count < 0:
            raise ArgumentError(f"count must be 0 or more, or None for an endless source; got {count}")
        if records_per_second is not None and records_per_second <= 0:
            raise ArgumentError(f"records_per_second must be positive, or None for no limit; got {records_per_second}")
        self.generator_function = getattr(generator_function, "map", generator_function)
        self.count = count
        self.records_per_second = records_per_second
        self.bounded = count is not None
        self._type_info = type_info

    @property
    def produced_type(self) -> TypeInformation | None:
        """The declared type."""
        return self._type_info

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that assigns index ranges at the configured rate."""
        return _GeneratorEnumerator(self, self.channels(parallelism), limits.max_records)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of one range of indices."""
        convert = self._type_info.block_converter() if self._type_info is not None else None
        start, stop = work

        def blocks() -> Iterator[list[Any]]:
            at = start
            while at < stop:
                end = min(stop, at + sizer.size)  # created just before it is used
                block = list(map(self.generator_function, range(at, end)))
                yield block if convert is None else convert(block)
                at = end

        return sliced(blocks(), sizer)


class _GeneratorEnumerator(Enumerator):
    def __init__(
        self,
        source: DataGeneratorSource,
        channels: int,
        max_records: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._count = source.count
        self._rate = source.records_per_second
        self._channels = channels
        self._max_records = max_records
        self._clock = clock
        self._next = 0
        self._done = False
        #: the first record is due at once; the clock starts with the next batch, however long the job took to start
        self._begun: float | None = None
        self._first: int | None = None

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        self._max_records = limits.max_records

    def backlog(self) -> Backlog | None:
        if self._rate is not None:
            due = min(self._allowed(), sys.maxsize if self._count is None else self._count)
            return Backlog(max(0, due - self._next))
        return Backlog() if self._count is None else Backlog(self._count - self._next)

    def next_batch(self) -> list[Assignment]:
        if self._done:
            return []
        if self._first is None:
            self._first = self._next + 1
        elif self._begun is None:
            self._begun = self._clock()
        stop = min(self._allowed(), self._next + self._max_records)
        if self._count is not None:
            stop = min(stop, self._count)
        self._done = self._count is not None and stop >= self._count
        if stop <= self._next and not self._done:
            return []
        parts = split_range(self._next, stop, self._channels)
        self._next = max(stop, self._next)
        return [
            Assignment(channel, part if part[0] < part[1] else None, self._done, part[1] - part[0])
            for channel, part in enumerate(parts)
            if self._done or part[0] < part[1]
        ]

    def _allowed(self) -> int:
        """Return the index before which all records are due now; the first record is due at once."""
        if self._rate is None:
            return self._next + self._max_records
        if self._first is None or self._begun is None:
            return self._next + 1 if self._first is None else self._first
        return self._first + int((self._clock() - self._begun) * self._rate)

    def idle_hint(self) -> float:
        """Return the time until the next record is due."""
        if self._rate is None or self._begun is None or self._first is None:
            return 0.0
        due = self._begun + (self._next - self._first + 1) / self._rate
        return max(0.0, due - self._clock())

    def position(self) -> dict[str, Any]:
        return {"next": self._next, "done": self._done}

    def restore(self, position: dict[str, Any]) -> None:
        self._next = position["next"]
        self._done = position["done"]
