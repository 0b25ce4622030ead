"""Assigners of tumbling and sliding windows of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scurry.common._type_variables import T
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream.window.base import Trigger, WindowAssigner
from scurry.datastream.window.triggers import EventTimeTrigger, ProcessingTimeTrigger
from scurry.datastream.window.windows import MIN_TIMESTAMP, TimeWindow
from scurry.errors import ArgumentError, MissingTimestampError

if TYPE_CHECKING:
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = [
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
]


def _require_timestamp(timestamp: int) -> None:
    if timestamp <= MIN_TIMESTAMP:
        raise MissingTimestampError("the record has no timestamp, so it belongs to no event-time window")


class _TimeWindows(WindowAssigner[T, TimeWindow]):
    """Windows of `size` ms that start every `slide` ms, `offset` ms after multiples of the slide."""

    def __init__(self, size: int, slide: int, offset: int) -> None:
        self._size = size
        self._slide = slide
        self._offset = offset

    def _windows_at(self, time: int) -> list[TimeWindow]:
        """Return the windows that contain a time, the latest first."""
        size, slide = self._size, self._slide
        last_start = time - (time - self._offset) % slide
        if size == slide:
            return [TimeWindow(last_start, last_start + size)]
        return [TimeWindow(start, start + size) for start in range(last_start, time - size, -slide)]


class _EventTime(_TimeWindows[T]):
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> list[TimeWindow]:
        """Return the windows the timestamp falls into.

        Raises:
            MissingTimestampError: The record has no timestamp.
        """
        _require_timestamp(timestamp)
        return self._windows_at(timestamp)

    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger[T, TimeWindow]:
        """Return an `EventTimeTrigger`."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True


class _ProcessingTime(_TimeWindows[T]):
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> list[TimeWindow]:
        """Return the windows the wall clock is in."""
        return self._windows_at(context.get_current_processing_time())

    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger[T, TimeWindow]:
        """Return a `ProcessingTimeTrigger`."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class _Tumbling(_TimeWindows[T]):
    @classmethod
    def of(cls, size: TimeAmount, offset: TimeAmount | None = None) -> Self:
        """Return the assigner.

        Args:
            size: Length of the windows (int: ms).
            offset: Shifts the starts, for example `Time.hours(-8)` for days of UTC+8.

        Raises:
            ArgumentError: Unless abs(offset) < size.
        """
        return cls(size, offset or 0)

    def __init__(self, size: TimeAmount, offset: TimeAmount = 0) -> None:
        """Configure the windows; see `of`."""
        size, offset = to_millis(size), to_millis(offset)
        if abs(offset) >= size:
            raise ArgumentError(
                f"{type(self).__name__} parameters must satisfy abs(offset) < size: offset {offset} ms, size {size} ms"
            )
        super().__init__(size, size, offset)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._offset})"


class _Sliding(_TimeWindows[T]):
    @classmethod
    def of(cls, size: TimeAmount, slide: TimeAmount, offset: TimeAmount | None = None) -> Self:
        """Return the assigner.

        Args:
            size: Length of the windows (int: ms).
            slide: Distance between their starts.
            offset: Shifts the starts.

        Raises:
            ArgumentError: Unless abs(offset) < slide and size > 0.
        """
        return cls(size, slide, offset or 0)

    def __init__(self, size: TimeAmount, slide: TimeAmount, offset: TimeAmount = 0) -> None:
        """Configure the windows; see `of`."""
        size, slide, offset = to_millis(size), to_millis(slide), to_millis(offset)
        if abs(offset) >= slide or size <= 0:
            raise ArgumentError(
                f"{type(self).__name__} parameters must satisfy abs(offset) < slide and size > 0: "
                f"offset {offset} ms, slide {slide} ms, size {size} ms"
            )
        super().__init__(size, slide, offset)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._slide}, {self._offset})"


class TumblingEventTimeWindows(_Tumbling[T], _EventTime[T]):
    """Windows in event time that follow each other without gaps, aligned to the epoch."""


class TumblingProcessingTimeWindows(_Tumbling[T], _ProcessingTime[T]):
    """Windows in processing time that follow each other without gaps, aligned to the epoch."""


class SlidingEventTimeWindows(_Sliding[T], _EventTime[T]):
    """Windows in event time that overlap: one of length `size` starts every `slide`."""


class SlidingProcessingTimeWindows(_Sliding[T], _ProcessingTime[T]):
    """Windows in processing time that overlap: one of length `size` starts every `slide`."""
