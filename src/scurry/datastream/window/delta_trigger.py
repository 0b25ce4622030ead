"""DeltaTrigger: fires when records differ by more than a threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.common._type_variables import T
from scurry.datastream._type_info import declared_type
from scurry.datastream.functions.window import DeltaFunction, delta_of
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window.base import Trigger, TriggerResult
from scurry.datastream.window.windows import Window

__all__ = ["DeltaTrigger"]


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
