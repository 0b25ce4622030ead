"""The built-in triggers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from scurry.common._type_variables import T
from scurry.common.time import TimeAmount, to_millis
from scurry.common.typeinfo import Types
from scurry.datastream.functions.transformations import ReduceFunction
from scurry.datastream.state import ReducingStateDescriptor
from scurry.datastream.window.base import Trigger, TriggerResult
from scurry.datastream.window.windows import MAX_TIMESTAMP, GlobalWindow, TimeWindow, Window
from scurry.errors import ArgumentError

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountTrigger",
    "EventTimeTrigger",
    "NeverTrigger",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
]


_CONTINUE = TriggerResult.CONTINUE
_FIRE = TriggerResult.FIRE


class _Sum(ReduceFunction):
    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class _Min(ReduceFunction):
    def reduce(self, value1: int, value2: int) -> int:
        return min(value1, value2)


class EventTimeTrigger(Trigger[T, TimeWindow]):
    """Fire once the watermark passes the end of the window, and again for each record within the allowed lateness."""

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at once when the watermark has passed the window, else wait for it."""
        end = window.max_timestamp()
        if end <= ctx.get_current_watermark():
            return _FIRE
        ctx.register_event_time_timer(end)
        return _CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of the window."""
        return _FIRE if time == window.max_timestamp() else _CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Wait for the end of the merged window."""
        end = window.max_timestamp()
        if end > ctx.get_current_watermark():
            ctx.register_event_time_timer(end)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Stop waiting."""
        ctx.delete_event_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> EventTimeTrigger[Any]:
        """Return the trigger."""
        return EventTimeTrigger()


class ProcessingTimeTrigger(Trigger[T, TimeWindow]):
    """Fire once the processing time passes the end of the window."""

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Wait for the end of the window."""
        ctx.register_processing_time_timer(window.max_timestamp())
        return _CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire."""
        return _FIRE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Wait for the end of the merged window."""
        end = window.max_timestamp()
        if end > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(end)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Stop waiting."""
        ctx.delete_processing_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> ProcessingTimeTrigger[Any]:
        """Return the trigger."""
        return ProcessingTimeTrigger()


def _interval(interval: TimeAmount) -> int:
    millis = to_millis(interval)
    if millis <= 0:
        raise ArgumentError(f"the interval of a continuous trigger must be positive, not {millis} ms")
    return millis


def _next_interval(time: int, interval: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> int:
    """Return when a continuous trigger fires next; at the end of input, a window without an end skips to its end."""
    end = window.max_timestamp()
    if end == MAX_TIMESTAMP == ctx.get_current_watermark():
        return end
    return min(time + interval, end)


class _ContinuousTrigger(Trigger[T, TimeWindow]):
    """Wait for the end of an interval after another, in event or processing time."""

    def __init__(self, interval: TimeAmount) -> None:
        """Fire every `interval` (int: ms)."""
        self.interval = _interval(interval)
        self._next_fire = ReducingStateDescriptor("fire-time", _Min(), Types.LONG())

    @abstractmethod
    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        """Register a timer."""

    @abstractmethod
    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        """Delete a timer."""

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Continue with the earliest of the merged intervals."""
        ctx.merge_partitioned_state(self._next_fire)
        time = ctx.get_partitioned_state(self._next_fire).get()
        if time is not None:
            self._register(time, ctx)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Stop waiting for the interval."""
        state = ctx.get_partitioned_state(self._next_fire)
        time = state.get()
        if time is not None:
            self._delete(time, ctx)
            state.clear()

    def _wait_from(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Wait for the end of the interval that contains a time, unless a timer is set already."""
        if ctx.get_partitioned_state(self._next_fire).get() is None:
            self._wait(time - time % self.interval, window, ctx)

    def _has_waited_for(self, time: int, ctx: Trigger.TriggerContext) -> bool:
        """Return whether a timer is that of the interval, which then has ended."""
        state = ctx.get_partitioned_state(self._next_fire)
        if state.get() != time:
            return False
        state.clear()
        return True

    def _wait(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        time = _next_interval(time, self.interval, window, ctx)
        ctx.get_partitioned_state(self._next_fire).add(time)
        self._register(time, ctx)


class ContinuousEventTimeTrigger(_ContinuousTrigger[T]):
    """Fire early each time the watermark has passed another `interval`, and at the end of the window."""

    @staticmethod
    def of(interval: TimeAmount) -> ContinuousEventTimeTrigger[Any]:
        """Return a trigger that fires every `interval` (int: ms)."""
        return ContinuousEventTimeTrigger(interval)

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at once when the watermark has passed the window, else wait for the interval and for the end."""
        end = window.max_timestamp()
        if end <= ctx.get_current_watermark():
            return _FIRE
        ctx.register_event_time_timer(end)
        self._wait_from(timestamp, window, ctx)
        return _CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of the window and of each interval."""
        if time == window.max_timestamp():
            return _FIRE
        if not self._has_waited_for(time, ctx):
            return _CONTINUE
        self._wait(time, window, ctx)
        return _FIRE

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_event_time_timer(time)

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(time)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger[T]):
    """Fire each time the processing time has passed another `interval`, and at the end of the window."""

    @staticmethod
    def of(interval: TimeAmount) -> ContinuousProcessingTimeTrigger[Any]:
        """Return a trigger that fires every `interval` (int: ms)."""
        return ContinuousProcessingTimeTrigger(interval)

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Wait for the interval, unless a timer is set already."""
        self._wait_from(ctx.get_current_processing_time(), window, ctx)
        return _CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of each interval."""
        if not self._has_waited_for(time, ctx):
            return _CONTINUE
        if time < window.max_timestamp():
            self._wait(time, window, ctx)
        return _FIRE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_processing_time_timer(time)

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_processing_time_timer(time)


class PurgingTrigger(Trigger[T, Window]):
    """Drop the contents of the window whenever another trigger fires it."""

    def __init__(self, nested_trigger: Trigger[T, Any]) -> None:
        """Purge whenever `nested_trigger` fires."""
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[Any, Any]) -> PurgingTrigger[Any]:
        """Return a trigger that purges whenever `nested_trigger` fires."""
        return PurgingTrigger(nested_trigger)

    def on_element(self, element: T, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Ask the nested trigger."""
        return _purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Ask the nested trigger."""
        return _purging(self.nested_trigger.on_event_time(time, window, ctx))

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Ask the nested trigger."""
        return _purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Clear the nested trigger."""
        self.nested_trigger.clear(window, ctx)

    def can_merge(self) -> bool:
        """Return whether the nested trigger can."""
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        """Let the nested trigger merge."""
        self.nested_trigger.on_merge(window, ctx)


def _purging(result: TriggerResult) -> TriggerResult:
    return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result


class CountTrigger(Trigger[T, Any]):
    """Fire at every `window_size`-th record of a window."""

    def __init__(self, window_size: int) -> None:
        """Fire at every `window_size`-th record."""
        self._window_size = window_size
        self._count = ReducingStateDescriptor("count", _Sum(), Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger[Any]:
        """Return a trigger that fires at every `window_size`-th record."""
        return CountTrigger(window_size)

    def on_element(self, element: T, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Count the record and fire when there are enough."""
        count = ctx.get_partitioned_state(self._count)
        count.add(1)
        if (count.get() or 0) < self._window_size:
            return _CONTINUE
        count.clear()
        return _FIRE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        """Add the counts up."""
        ctx.merge_partitioned_state(self._count)

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        """Clear the count."""
        ctx.get_partitioned_state(self._count).clear()


class NeverTrigger(Trigger[T, GlobalWindow]):
    """Never fires."""

    def on_element(
        self, element: T, timestamp: int, window: GlobalWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def on_processing_time(self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def on_event_time(self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return _CONTINUE

    def on_merge(self, window: GlobalWindow, ctx: Trigger.OnMergeContext) -> None:
        """Do nothing."""

    def clear(self, window: GlobalWindow, ctx: Trigger.TriggerContext) -> None:
        """Do nothing."""
