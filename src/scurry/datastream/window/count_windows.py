"""Assigners of windows that do not end by time: count windows and the global window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.common._type_variables import T
from scurry.common.typeinfo import Types
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window.base import Trigger, TriggerResult, WindowAssigner
from scurry.datastream.window.triggers import CountTrigger, NeverTrigger, PurgingTrigger
from scurry.datastream.window.windows import CountWindow, GlobalWindow
from scurry.errors import ArgumentError

if TYPE_CHECKING:
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["CountSlidingWindowAssigner", "CountTumblingWindowAssigner", "GlobalWindows"]


class _CountWindows(WindowAssigner[T, CountWindow]):
    """Number the records of each key; window i begins at record i * slide."""

    def __init__(self, window_size: int, window_slide: int, state_name: str) -> None:
        if window_size <= 0 or window_slide <= 0:
            raise ArgumentError(
                f"the size and slide of count windows must be positive, not {window_size!r} and {window_slide!r}"
            )
        self._window_size = window_size
        self._window_slide = window_slide
        self._seen = ValueStateDescriptor(state_name, Types.LONG())

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> list[CountWindow]:
        """Return the windows the record's number within its key falls into, the latest first."""
        seen = context.get_runtime_context().get_state(self._seen)
        number = seen.value() or 0
        seen.update(number + 1)
        size, slide = self._window_size, self._window_slide
        last = number // slide
        first = max(0, (number - size) // slide + 1)
        return [CountWindow(i) for i in range(last, first - 1, -1)]

    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger[T, Any]:
        """Return a trigger that fires when the window is full and then drops its contents."""
        return PurgingTrigger(CountTrigger(self._window_size))

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class CountTumblingWindowAssigner(_CountWindows[T]):
    """Windows of `window_size` records each, per key."""

    def __init__(self, window_size: int) -> None:
        """Configure the size; see `of`."""
        super().__init__(window_size, window_size, "tumble-count-assigner")

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner[Any]:
        """Return the assigner.

        Raises:
            ArgumentError: The size is not positive.
        """
        return CountTumblingWindowAssigner(window_size)

    def __repr__(self) -> str:
        """Return the expression that makes this assigner."""
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_CountWindows[T]):
    """Windows of `window_size` records each, of which one begins every `window_slide` records of a key."""

    def __init__(self, window_size: int, window_slide: int) -> None:
        """Configure size and slide; see `of`."""
        super().__init__(window_size, window_slide, "slide-count-assigner")

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner[Any]:
        """Return the assigner.

        Raises:
            ArgumentError: The size or the slide is not positive.
        """
        return CountSlidingWindowAssigner(window_size, window_slide)

    def __repr__(self) -> str:
        """Return the expression that makes this assigner."""
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"


class _EndOfStreamTrigger(Trigger[T, GlobalWindow]):
    """Fire once, when there is no more input."""

    def on_element(
        self, element: T, timestamp: int, window: GlobalWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Wait for the end of time."""
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of time."""
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def on_merge(self, window: GlobalWindow, ctx: Trigger.OnMergeContext) -> None:
        """Do nothing."""

    def clear(self, window: GlobalWindow, ctx: Trigger.TriggerContext) -> None:
        """Do nothing."""


class GlobalWindows(WindowAssigner[T, GlobalWindow]):
    """Put all records of a key into one window that never ends and needs an explicit trigger."""

    def __init__(self, default_trigger: Trigger[T, GlobalWindow] | None = None) -> None:
        """Configure the trigger to use if the program sets none (None: one that never fires)."""
        self._default_trigger = default_trigger or NeverTrigger()

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> list[GlobalWindow]:
        """Return the global window."""
        return [GlobalWindow.get()]

    @staticmethod
    def create() -> GlobalWindows[Any]:
        """Return the assigner."""
        return GlobalWindows()

    @staticmethod
    def create_with_end_of_stream_trigger() -> GlobalWindows[Any]:
        """Return the assigner with a trigger that fires when there is no more input."""
        return GlobalWindows(_EndOfStreamTrigger())

    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger[T, GlobalWindow]:
        """Return a `NeverTrigger`, or the one that fires at the end of the stream."""
        return self._default_trigger

    def is_event_time(self) -> bool:
        """Return False."""
        return False

    def __repr__(self) -> str:
        """Return the expression that makes this assigner."""
        return "GlobalWindows()"
