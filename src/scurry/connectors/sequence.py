"""NumberSequenceSource: generates the whole numbers from a start to an end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.ranges import RangeEnumerator
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import ArgumentError


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
