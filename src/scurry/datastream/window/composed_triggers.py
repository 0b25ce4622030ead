"""Triggers made of functions or other triggers: by a difference of records, and after a timeout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.common._type_variables import T
from scurry.common.time import TimeAmount, to_millis
from scurry.common.typeinfo import Types
from scurry.datastream._type_info import declared_type
from scurry.datastream.functions.window import DeltaFunction, delta_of
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window.base import Trigger, TriggerResult
from scurry.datastream.window.windows import Window
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["DeltaTrigger", "ProcessingTimeoutTrigger"]


class DeltaTrigger(Trigger[T, Window]):
    """Fire when a record is farther than a threshold from the record that fired last (at first: the first one)."""

    def __init__(
        self, threshold: float, delta_function: DeltaFunction | Callable[[T, T], float], state_type: Any = None
    ) -> None:
        """Configure the trigger; see `of`."""
        self._threshold = threshold
        self._delta = delta_of(delta_function)
        declared_type(state_type, "state_type")
        # the record is stored in a tuple, because a state of None counts as empty
        self._last = ValueStateDescriptor("last-element")

    @staticmethod
    def of(
        threshold: float, delta_function: DeltaFunction | Callable[[Any, Any], float], state_type: Any = None
    ) -> DeltaTrigger[Any]:
        """Return a trigger that fires when a delta exceeds a threshold.

        Args:
            threshold: The delta above which the trigger fires.
            delta_function: A DeltaFunction or a callable of the record that fired last and the new one.
            state_type: Declared type of the records; they are not converted.

        Raises:
            ArgumentTypeError: `delta_function` is neither.
        """
        return DeltaTrigger(threshold, delta_function, state_type)

    def on_element(self, element: T, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire if the record has moved far enough."""
        last = ctx.get_partitioned_state(self._last)
        held = last.value()
        if held is None:
            last.update((element,))
        elif self._delta(held[0], element) > self._threshold:
            last.update((element,))
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Forget the last record."""
        ctx.get_partitioned_state(self._last).clear()


class ProcessingTimeoutTrigger(Trigger[T, Window]):
    """Fire when another trigger fires, or after a timeout in processing time.

    As in Flink, a timer of the nested trigger also counts as the timeout, and windows cannot merge.
    """

    def __init__(
        self,
        nested_trigger: Trigger[T, Any],
        timeout: TimeAmount,
        reset_timer_on_new_record: bool = False,
        should_clear_on_timeout: bool = True,
    ) -> None:
        """Configure the trigger; see `of`."""
        if not isinstance(nested_trigger, Trigger):
            raise ArgumentTypeError(f"expected a Trigger, got {nested_trigger!r}")
        self.nested_trigger = nested_trigger
        self.timeout = to_millis(timeout)
        if self.timeout < 0:
            raise ArgumentError(f"the timeout cannot be negative: {self.timeout} ms")
        self._reset_timer_on_new_record = reset_timer_on_new_record
        self._should_clear_on_timeout = should_clear_on_timeout
        self._due = ValueStateDescriptor("timeout", Types.LONG())

    @staticmethod
    def of(
        nested_trigger: Trigger[Any, Any],
        timeout: TimeAmount,
        reset_timer_on_new_record: bool = False,
        should_clear_on_timeout: bool = True,
    ) -> ProcessingTimeoutTrigger[Any]:
        """Return a trigger that fires with `nested_trigger`, or after a timeout.

        Args:
            nested_trigger: The other trigger.
            timeout: How long after the first record to fire (int: ms of processing time).
            reset_timer_on_new_record: Whether every record starts the timeout again.
            should_clear_on_timeout: Whether the nested trigger is cleared on a timeout.

        Raises:
            ArgumentTypeError: `nested_trigger` is not a trigger.
            ArgumentError: The timeout is negative.
        """
        return ProcessingTimeoutTrigger(nested_trigger, timeout, reset_timer_on_new_record, should_clear_on_timeout)

    def on_element(self, element: T, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Ask the nested trigger; unless it fires, wait for the timeout."""
        result = self.nested_trigger.on_element(element, timestamp, window, ctx)
        if result.is_fire():
            self.clear(window, ctx)
            return result
        due = ctx.get_partitioned_state(self._due)
        waiting = due.value()
        if waiting is not None and self._reset_timer_on_new_record:
            ctx.delete_processing_time_timer(waiting)
            waiting = None
        if waiting is None:
            time = ctx.get_current_processing_time() + self.timeout
            due.update(time)
            ctx.register_processing_time_timer(time)
        return result

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire."""
        return self._timed_out(self.nested_trigger.on_processing_time(time, window, ctx), window, ctx)

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire."""
        return self._timed_out(self.nested_trigger.on_event_time(time, window, ctx), window, ctx)

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Stop waiting, and clear the nested trigger."""
        due = ctx.get_partitioned_state(self._due)
        waiting = due.value()
        if waiting is not None:
            ctx.delete_processing_time_timer(waiting)
            due.clear()
        self.nested_trigger.clear(window, ctx)

    def _timed_out(self, nested: TriggerResult, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        if self._should_clear_on_timeout:
            self.clear(window, ctx)
        return TriggerResult.FIRE_AND_PURGE if nested.is_purge() else TriggerResult.FIRE
