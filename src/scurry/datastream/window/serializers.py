"""Serializers of windows, which programs with custom assigners return because PyFlink requires one."""

from __future__ import annotations

import struct
from typing import IO

from scurry.common.serializer import TypeSerializer
from scurry.datastream.window.windows import CountWindow, GlobalWindow, TimeWindow

__all__ = ["CountWindowSerializer", "GlobalWindowSerializer", "TimeWindowSerializer"]


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
