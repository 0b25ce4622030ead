"""Windows: the finite buckets into which assigners put records."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import total_ordering
from typing import IO, TYPE_CHECKING, Any

from scurry.common.serializer import TypeSerializer

if TYPE_CHECKING:
    from scurry.datastream.window.base import MergingWindowAssigner

__all__ = [
    "CountWindow",
    "CountWindowSerializer",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "MAX_TIMESTAMP",
    "MIN_TIMESTAMP",
    "TimeWindow",
    "TimeWindowSerializer",
    "Window",
]

#: The largest and smallest timestamp (ms); the smallest marks a record without a timestamp.
MAX_TIMESTAMP = 2**63 - 1
MIN_TIMESTAMP = -(2**63)


class Window(ABC):
    """A finite bucket of records. Windows can be compared with others of their kind and used as keys."""

    __slots__ = ()

    @abstractmethod
    def max_timestamp(self) -> int:
        """Return the largest timestamp (ms) that still belongs to the window."""


@total_ordering
class TimeWindow(Window):
    """The interval of time from `start` (inclusive) to `end` (exclusive).

    Attributes:
        start: First timestamp (ms) of the window.
        end: First timestamp (ms) after the window.
    """

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        """Make the window [start, end), in ms."""
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        """Return `end - 1`."""
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Return whether the windows overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """Return the smallest window that covers both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Return the start of the window a timestamp falls into; all in ms, and correct before 1970, too.

        Args:
            timestamp: The timestamp.
            offset: How much later than multiples of the size windows start.
            window_size: The distance between starts.
        """
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]) -> None:
        """Report every group of windows that overlap or touch, and the window that covers the group.

        Args:
            windows: The windows.
            callback: Called once per group of two or more, with the group in order and its cover.
        """
        covers: list[tuple[TimeWindow, list[TimeWindow]]] = []
        for window in sorted(set(windows)):
            if covers and covers[-1][0].intersects(window):
                cover, group = covers[-1]
                covers[-1] = (cover.cover(window), [*group, window])
            else:
                covers.append((window, [window]))
        for cover, group in covers:
            if len(group) > 1:
                callback.merge(group, cover)

    def __hash__(self) -> int:
        """Hash the values that are compared."""
        return hash((self.start, self.end))

    def __eq__(self, other: object) -> bool:
        """Compare with any object; windows of different kinds differ."""
        return isinstance(other, TimeWindow) and self.start == other.start and self.end == other.end

    def __lt__(self, other: TimeWindow) -> bool:
        """Order by start, then end."""
        return (self.start, self.end) < (other.start, other.end)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as little as possible: windows are part of every state key."""
        return TimeWindow, (self.start, self.end)

    def __repr__(self) -> str:
        """Show the window as PyFlink does."""
        return f"TimeWindow(start={self.start}, end={self.end})"


@total_ordering
class CountWindow(Window):
    """A window of a fixed number of records.

    Attributes:
        id: The number of the window within its key.
    """

    __slots__ = ("id",)

    def __init__(self, id: int) -> None:  # noqa: A002 - PyFlink's name
        """Make the window with that number."""
        self.id = id

    def max_timestamp(self) -> int:
        """Return the largest timestamp there is: the window does not end by time."""
        return MAX_TIMESTAMP

    def __hash__(self) -> int:
        """Hash the values that are compared."""
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        """Compare with any object; windows of different kinds differ."""
        return isinstance(other, CountWindow) and self.id == other.id

    def __lt__(self, other: CountWindow) -> bool:
        """Order by number."""
        return self.id < other.id

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as little as possible: windows are part of every state key."""
        return CountWindow, (self.id,)

    def __repr__(self) -> str:
        """Show the window as PyFlink does."""
        return f"CountWindow(id={self.id})"


@total_ordering
class GlobalWindow(Window):
    """The one window that `GlobalWindows` puts everything into."""

    __slots__ = ()

    @staticmethod
    def get() -> GlobalWindow:
        """Return the window."""
        return _GLOBAL

    def max_timestamp(self) -> int:
        """Return the largest timestamp there is: the window does not end by time."""
        return MAX_TIMESTAMP

    def __hash__(self) -> int:
        """Hash the values that are compared."""
        return 0

    def __eq__(self, other: object) -> bool:
        """Compare with any object; windows of different kinds differ."""
        return isinstance(other, GlobalWindow)

    def __lt__(self, other: GlobalWindow) -> bool:
        """Return False: there is only one."""
        return False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as little as possible: windows are part of every state key."""
        return GlobalWindow.get, ()

    def __repr__(self) -> str:
        """Show the window as PyFlink does."""
        return "GlobalWindow"


_GLOBAL = GlobalWindow()


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Write a `TimeWindow` as start and end, 8 bytes each."""

    def serialize(self, element: TimeWindow, stream: IO[bytes]) -> None:
        """Write a window."""
        stream.write(struct.pack(">qq", element.start, element.end))

    def deserialize(self, stream: IO[bytes]) -> TimeWindow:
        """Read a window."""
        return TimeWindow(*struct.unpack(">qq", stream.read(16)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """Write a `CountWindow` as its number in 8 bytes."""

    def serialize(self, element: CountWindow, stream: IO[bytes]) -> None:
        """Write a window."""
        stream.write(struct.pack(">q", element.id))

    def deserialize(self, stream: IO[bytes]) -> CountWindow:
        """Read a window."""
        return CountWindow(*struct.unpack(">q", stream.read(8)))


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """Write the `GlobalWindow` as one byte."""

    def serialize(self, element: GlobalWindow, stream: IO[bytes]) -> None:
        """Write the window."""
        stream.write(b"\0")

    def deserialize(self, stream: IO[bytes]) -> GlobalWindow:
        """Read the window."""
        stream.read(1)
        return GlobalWindow.get()
