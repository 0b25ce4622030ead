"""The protocols of window assigners and triggers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic

from scurry.common._type_variables import IN, WINDOW, T, W
from scurry.common.pickling import of_functions
from scurry.errors import UnsupportedError

if TYPE_CHECKING:
    from scurry.datastream.functions import RuntimeContext
    from scurry.datastream.state import StateDescriptor
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment
    from scurry.metrics import MetricGroup

__all__ = ["MergingWindowAssigner", "SessionWindowTimeGapExtractor", "Trigger", "TriggerResult", "WindowAssigner"]


class TriggerResult(Enum):
    """The decision of a trigger about a window: FIRE evaluates it, PURGE drops its contents."""

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def __init__(self, fire: bool, purge: bool) -> None:
        """Store both flags as attributes, because they are read for every record."""
        self._fire = fire
        self._purge = purge

    def is_fire(self) -> bool:
        """Return whether the window is evaluated."""
        return self._fire

    def is_purge(self) -> bool:
        """Return whether the contents are dropped."""
        return self._purge


@of_functions
class Trigger(ABC, Generic[IN, WINDOW]):
    """Decide when the contents of a window are evaluated, separately for each key and window.

    A trigger object is shared by all keys and windows: it stores its state in
    `ctx.get_partitioned_state(...)`. Timers set through the context fire with the same key and window.
    """

    class TriggerContext(ABC):
        """Time, timers and state of one key and window."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the wall clock in ms."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Return the group in which the trigger registers its metrics."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the current watermark in ms."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Call `on_processing_time` once the wall clock has reached `time` (ms)."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Call `on_event_time` once the watermark has reached `time` (ms)."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Delete the processing-time timer at `time` (ms)."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Delete the event-time timer at `time` (ms)."""

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor[T]) -> T:
            """Return state that belongs to this key and window."""

    class OnMergeContext(TriggerContext):
        """The context while windows merge."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Merge the state of the merged windows into that of the resulting one."""

    @abstractmethod
    def on_element(self, element: IN, timestamp: int, window: WINDOW, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide after a record was added to the window.

        Args:
            element: INhe record.
            timestamp: Its timestamp in ms.
            window: The window it was added to.
            ctx: Time, timers and state.
        """

    @abstractmethod
    def on_processing_time(self, time: int, window: WINDOW, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide when a processing-time timer set for `time` (ms) fires."""

    @abstractmethod
    def on_event_time(self, time: int, window: WINDOW, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide when an event-time timer set for `time` (ms) fires."""

    def can_merge(self) -> bool:
        """Return whether the trigger works with windows that merge; then it needs `on_merge`."""
        return False

    def on_merge(self, window: WINDOW, ctx: Trigger.OnMergeContext) -> None:
        """Move timers and state to `window`, into which several windows were merged."""
        raise UnsupportedError(f"{type(self).__name__} does not support merging windows: implement on_merge for that")

    @abstractmethod
    def clear(self, window: WINDOW, ctx: Trigger.TriggerContext) -> None:
        """Remove the timers and state the trigger holds for a window that expires."""


@of_functions
class WindowAssigner(ABC, Generic[IN, W]):
    """Put each record into zero or more windows."""

    class WindowAssignerContext(ABC):
        """Context of an assigner: clock and state."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the wall clock in ms."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Return the runtime context, with the state of the current key."""

    @abstractmethod
    def assign_windows(
        self, element: IN, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W]:
        """Return the windows of a record with that timestamp (ms)."""

    @abstractmethod
    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger[IN, W]:
        """Return the trigger to use if the program sets none."""

    def get_window_serializer(self) -> Any:
        """Return None: scurry needs no serializer to store windows; one that a program returns is not used."""
        return None

    @abstractmethod
    def is_event_time(self) -> bool:
        """Return whether windows end by the watermark rather than by the wall clock."""


class MergingWindowAssigner(WindowAssigner[IN, W]):
    """An assigner whose windows may merge as records come, such as sessions."""

    class MergeCallback(ABC, Generic[WINDOW]):
        """Receiver of the groups of windows to merge."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[WINDOW], merge_result: WINDOW) -> None:
            """Merge the windows of a group into `merge_result`."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergingWindowAssigner.MergeCallback[W]) -> None:
        """Report to `callback` which of `windows` should become one."""


@of_functions
class SessionWindowTimeGapExtractor(ABC, Generic[IN]):
    """Find the session gap of each record."""

    @abstractmethod
    def extract(self, element: IN) -> int:
        """Return the gap in ms, above 0."""
