"""Elements of windows as triggers and evictors see them: with their timestamp and the stream they came from."""

from __future__ import annotations

from typing import Any, NamedTuple

from scurry.errors import MissingTimestampError

__all__ = ["TaggedUnion", "TimestampedValue"]


class TimestampedValue(NamedTuple):
    """An element of a window with its timestamp (Flink's `TimestampedValue`), as evictors are given it.

    Attributes:
        value: The element.
        timestamp: Its timestamp in ms, or None if it has none.
    """

    value: Any
    timestamp: int | None = None

    def get_value(self) -> Any:
        """Return the element."""
        return self.value

    def has_timestamp(self) -> bool:
        """Return whether the element has a timestamp."""
        return self.timestamp is not None

    def get_timestamp(self) -> int:
        """Return the timestamp in ms.

        Raises:
            MissingTimestampError: The element has none.
        """
        if self.timestamp is None:
            raise MissingTimestampError(
                "the record has no timestamp; call assign_timestamps_and_watermarks before the window"
            )
        return self.timestamp


class TaggedUnion(NamedTuple):
    """A record of one of two streams (Flink's `TaggedUnion`).

    Joins and co-groups put the records of both streams into the same windows; triggers, evictors and window assigners
    of such windows are given records of this class.

    Attributes:
        side: 0 for a record of the first stream, 1 for one of the second.
        value: The record.
    """

    side: int
    value: Any

    def is_one(self) -> bool:
        """Return whether the record is of the first stream."""
        return self.side == 0

    def is_two(self) -> bool:
        """Return whether the record is of the second stream."""
        return self.side == 1

    def get_one(self) -> Any:
        """Return the record of the first stream, None if this is one of the second."""
        return self.value if self.side == 0 else None

    def get_two(self) -> Any:
        """Return the record of the second stream, None if this is one of the first."""
        return self.value if self.side == 1 else None
