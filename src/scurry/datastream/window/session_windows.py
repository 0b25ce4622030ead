"""Assigners of session windows: records closer than a gap share a window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from scurry.common._type_variables import T
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream.window.base import MergingWindowAssigner, SessionWindowTimeGapExtractor, Trigger, WindowAssigner
from scurry.datastream.window.triggers import EventTimeTrigger, ProcessingTimeTrigger
from scurry.datastream.window.windows import TimeWindow
from scurry.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = [
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "ProcessingTimeSessionWindows",
]


_Extractor: TypeAlias = SessionWindowTimeGapExtractor | Callable[[Any], int]


class _SessionWindows(MergingWindowAssigner[T, TimeWindow]):
    """Every record opens a window as long as its gap; windows that overlap or touch merge."""

    def _gap(self, element: T) -> int:
        raise NotImplementedError

    def merge_windows(
        self, windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]
    ) -> None:
        """Merge windows that overlap or touch."""
        TimeWindow.merge_windows(windows, callback)


class _EventTime(_SessionWindows[T]):
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> list[TimeWindow]:
        """Return the window from the timestamp to the end of the gap."""
        return [TimeWindow(timestamp, timestamp + self._gap(element))]

    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger[T, TimeWindow]:
        """Return an `EventTimeTrigger`."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True


class _ProcessingTime(_SessionWindows[T]):
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> list[TimeWindow]:
        """Return the window from now to the end of the gap."""
        now = context.get_current_processing_time()
        return [TimeWindow(now, now + self._gap(element))]

    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger[T, TimeWindow]:
        """Return a `ProcessingTimeTrigger`."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class _FixedGap(_SessionWindows[T]):
    def __init__(self, session_gap: TimeAmount) -> None:
        """Configure the gap; see `with_gap`."""
        self._session_gap = to_millis(session_gap)
        if self._session_gap <= 0:
            raise ArgumentError(f"{type(self).__name__} parameters must satisfy 0 < size, not {self._session_gap} ms")

    def _gap(self, element: T) -> int:
        return self._session_gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _DynamicGap(_SessionWindows[T]):
    def __init__(self, session_window_time_gap_extractor: _Extractor) -> None:
        """Configure where the gap comes from; see `with_dynamic_gap`."""
        extractor = session_window_time_gap_extractor
        self._extract: Callable[[Any], int]
        if isinstance(extractor, SessionWindowTimeGapExtractor):
            self._extract = extractor.extract
        elif callable(extractor):
            self._extract = extractor
        else:
            raise ArgumentTypeError(
                f"a gap extractor must be a SessionWindowTimeGapExtractor or a callable, not {extractor!r}"
            )

    def _gap(self, element: T) -> int:
        gap = self._extract(element)
        if gap <= 0:
            raise ArgumentError(f"Dynamic session time gap must satisfy 0 < gap: got {gap!r} ms for {element!r}")
        return gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class EventTimeSessionWindows(_FixedGap[T], _EventTime[T]):
    """Sessions in event time, ended by a gap without records."""

    @staticmethod
    def with_gap(size: TimeAmount) -> EventTimeSessionWindows[Any]:
        """Return the assigner; records at most `size` (int: ms) apart share a session.

        Raises:
            ArgumentError: The gap is not positive.
        """
        return EventTimeSessionWindows(size)

    @staticmethod
    def with_dynamic_gap(extractor: _Extractor) -> DynamicEventTimeSessionWindows[Any]:
        """Return an assigner that gets the gap (ms) of each record from `extractor`."""
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_FixedGap[T], _ProcessingTime[T]):
    """Sessions in processing time, ended by a gap without records."""

    @staticmethod
    def with_gap(size: TimeAmount) -> ProcessingTimeSessionWindows[Any]:
        """Return the assigner; records at most `size` (int: ms) apart share a session.

        Raises:
            ArgumentError: The gap is not positive.
        """
        return ProcessingTimeSessionWindows(size)

    @staticmethod
    def with_dynamic_gap(extractor: _Extractor) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return an assigner that gets the gap (ms) of each record from `extractor`."""
        return DynamicProcessingTimeSessionWindows(extractor)


class DynamicEventTimeSessionWindows(_DynamicGap[T], _EventTime[T]):
    """Sessions in event time in which each record has its own gap."""

    @staticmethod
    def with_dynamic_gap(extractor: _Extractor) -> DynamicEventTimeSessionWindows[Any]:
        """Return an assigner that gets the gap (ms) of each record from `extractor`."""
        return DynamicEventTimeSessionWindows(extractor)


class DynamicProcessingTimeSessionWindows(_DynamicGap[T], _ProcessingTime[T]):
    """Sessions in processing time in which each record has its own gap."""

    @staticmethod
    def with_dynamic_gap(extractor: _Extractor) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return an assigner that gets the gap (ms) of each record from `extractor`."""
        return DynamicProcessingTimeSessionWindows(extractor)
