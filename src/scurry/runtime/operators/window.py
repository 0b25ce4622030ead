"""The window operator: Flink's WindowOperator, with merging windows, triggers, lateness and incremental aggregation.

Per key and window, the entry of the state backend holds the contents: the accumulator of the pre-aggregation, or the
list of elements. The window is the namespace of its timers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.common._copies import copy_of, itself
from scurry.common.time import checked_time
from scurry.common.window_elements import TaggedUnion
from scurry.errors import UnsupportedError
from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.keys import original_key
from scurry.runtime.operators.base import KeyedOperator
from scurry.runtime.operators.window_functions import CoGroupFold, ListFold, WindowEmitter, WindowFold, fold_of
from scurry.runtime.state.slots import CONTENTS, EVENT, MERGING, PROCESSING, window_contents

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor

#: Kinds of trigger state that can be merged when windows merge.
MERGEABLE = ("list", "reducing", "aggregating")


class WindowOperator(KeyedOperator):
    """Assign elements to windows, and emit a window when its trigger fires."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        spec = plan.operator
        assert isinstance(spec, ops.Window)
        self.spec = spec
        self.assigner, self.trigger = spec.assigner, spec.trigger
        self.lateness = spec.allowed_lateness
        self.event_time: bool = spec.assigner.is_event_time()
        self.fold: WindowFold = fold_of(spec)
        #: returns the element for one more window that it belongs to
        self.own = copy_of if isinstance(self.fold, ListFold | CoGroupFold) and collector.copies else itself
        self.emitter = WindowEmitter(self)
        self.trigger_context = TriggerContext(self)
        self.key: Any = None

    def functions(self) -> list[Any]:
        return [f for f in (self.spec.function, self.spec.pre_aggregate, self.spec.trigger) if f is not None]

    def open(self) -> None:
        super().open()
        self.assigner_context = AssignerContext(self)

    # ---------------------------------------------------------------- elements

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if keys is None:
            keys = [0] * len(values)  # window_all
        backend = self.backend
        add = self._add_merging if self.spec.merging else self._add
        elements = (
            [TaggedUnion(index, value) for value in values] if self.spec.hook is ops.WindowHook.CO_GROUP else values
        )
        position = 0
        try:
            for position, (key, element, kept, entry) in enumerate(
                zip(keys, elements, self.kept(elements, timestamps), backend.found(keys), strict=True)
            ):
                backend.key, backend.entry = key, entry
                add(element, MIN_TIME if timestamps is None else timestamps[position], kept)
        except Exception as error:
            raise operator_error(self.plan, error, values[position], self._hint(timestamps)) from error
        self.emitter.flush()

    def keyed(self, index: int, keys: list[Any] | None, values: Values) -> tuple[list[Any], Values]:
        """Return the keys, one for all records of `window_all`, and the values, in a co-group with their input."""
        if self.spec.hook is ops.WindowHook.CO_GROUP:
            values = [(index, value) for value in values]
        return [0] * len(values) if keys is None else keys, values

    def kept(self, elements: Values, timestamps: Timestamps) -> Values:
        """Return the fold's input for each of the elements."""
        return elements

    def _hint(self, timestamps: Timestamps) -> str:
        if self.event_time and timestamps is None:
            return "call assign_timestamps_and_watermarks(...) before key_by, or use processing-time windows"
        return ""

    def _add(self, value: Any, timestamp: int, kept: Any) -> None:
        entry, skipped = self.backend.entry, True
        for place, window in enumerate(self.assigner.assign_windows(value, timestamp, self.assigner_context)):
            if self._is_late(window):
                continue
            skipped = False
            if place:
                kept = self.own(kept)
            slot = (CONTENTS, window)  # window_contents(window)
            if slot in entry:
                entry[slot] = self.fold.more(entry[slot], kept)
            else:
                self._require_times(window)
                entry[slot] = self.fold.first(kept)
            self._fire(self.trigger_context.on_element(value, timestamp, window), window, slot, timestamp)
            self._register_cleanup(window)
        if skipped:
            self._late(value, timestamp)

    def _add_merging(self, value: Any, timestamp: int, kept: Any) -> None:
        backend, skipped = self.backend, True
        for window in self.assigner.assign_windows(value, timestamp, self.assigner_context):
            actual = self._merge(window)
            if self._is_late(actual):
                self._retire(actual)
                continue
            skipped = False
            entry, slot = backend.entry, (CONTENTS, actual)  # window_contents(actual)
            if slot in entry:
                entry[slot] = self.fold.more(entry[slot], kept)
            else:
                self._require_times(actual)
                entry[slot] = self.fold.first(kept)
            self._fire(self.trigger_context.on_element(value, timestamp, actual), actual, slot, timestamp)
            self._register_cleanup(actual)
        if skipped:
            self._late(value, timestamp)

    def _require_times(self, window: Any) -> None:
        """Refuse a new window that is not within 64 bits, because its end would never come."""
        checked_time(window.max_timestamp(), f"the last timestamp of {window}")
        for name in ("start", "end"):
            end = getattr(window, name, None)
            if type(end) is int:
                checked_time(end, f"the {name} of {window}")

    def _late(self, value: Any, timestamp: int) -> None:
        """Emit or count a late element; as in Flink, only if its own time is behind the watermark."""
        if not (self.event_time and timestamp + self.lateness <= self.current_watermark):
            return
        if self.spec.late_tag is not None:
            self.emitter.flush()
            self.collector.emit_side(self.spec.late_tag, [value], [timestamp])
        else:
            self.info.count(self.plan.id, "numLateRecordsDropped")

    # ---------------------------------------------------------------- merging windows

    def _merge(self, window: Any) -> Any:
        """Add a window to the key's set of windows in flight; return the window that it is now part of."""
        in_flight: list[Any] = self.backend.entry.setdefault(MERGING, [])
        merges: list[tuple[list[Any], Any]] = []
        collect = _MergeCallback(merges)
        self.assigner.merge_windows([*in_flight, *([window] if window not in in_flight else [])], collect)
        actual = window
        for merged, result in merges:
            if window in merged:
                actual = result
            old = [w for w in merged if w in in_flight]
            in_flight[:] = [w for w in in_flight if w not in merged]
            in_flight.append(result)
            if old and old != [result]:
                self._merge_contents(old, result)
        if actual not in in_flight:
            in_flight.append(actual)
        return actual

    def _merge_contents(self, old: list[Any], result: Any) -> None:
        if self.event_time and result.max_timestamp() + self.lateness <= self.current_watermark:
            raise RuntimeError(
                f"the end timestamp of an event-time window cannot become earlier than the current watermark by "
                f"merging: watermark {self.current_watermark}, window {result}"
            )
        entry = self.backend.entry
        self.trigger_context.on_merge(old, result)
        contents = [entry.pop(slot) for slot in map(window_contents, old) if slot in entry]
        for window in old:
            if window != result:
                self.trigger_context.clear(window)
                self._delete_cleanup(window)
        if contents:
            entry[window_contents(result)] = self.fold.merge(contents)

    def _retire(self, window: Any) -> None:
        in_flight = self.backend.entry.get(MERGING)
        if in_flight is not None:
            if window in in_flight:
                in_flight.remove(window)
            if not in_flight:
                del self.backend.entry[MERGING]

    # ---------------------------------------------------------------- time

    def on_event_time(self, time: int, window: Any) -> None:
        self._on_time(self.trigger_context.on_event_time, time, window, self.event_time)

    def on_processing_time(self, time: int, window: Any) -> None:
        self._on_time(self.trigger_context.on_processing_time, time, window, not self.event_time)

    def _on_time(self, ask: Any, time: int, window: Any, domain_of_windows: bool) -> None:
        if self.spec.merging and window not in self.backend.entry.get(MERGING, ()):
            return  # the window has since been merged into another
        slot = window_contents(window)
        try:
            self._fire(ask(time, window), window, slot, time)
            if domain_of_windows and time == self._cleanup_time(window):
                self._clear(window, slot)
        except Exception as error:
            key = original_key(self.backend.key)
            raise operator_error(self.plan, error, f"timer {time} of key {key!r}, {window}") from error

    def emit_after_timers(self) -> None:
        self.emitter.flush()

    def _fire(self, result: Any, window: Any, slot: Any, time: int) -> None:
        """Apply the trigger's decision at the time of an element or a timer."""
        entry = self.backend.entry
        if result.is_fire() and slot in entry:
            self.emitter.emit(window, entry[slot], time)
        if result.is_purge():
            entry.pop(slot, None)

    def _end(self, window: Any, contents: Any) -> None:
        """Emit a window that fires once, at its end."""
        try:
            self.emitter.emit(window, contents, window.max_timestamp())
            self.emitter.clear(window)
        except Exception as error:
            raise operator_error(self.plan, error, f"{window} of key {original_key(self.backend.key)!r}") from error

    def _clear(self, window: Any, slot: Any) -> None:
        self.backend.entry.pop(slot, None)
        self.trigger_context.clear(window)
        self.emitter.clear(window)
        if self.spec.merging:
            self._retire(window)

    def _is_late(self, window: Any) -> bool:
        return self.event_time and self._cleanup_time(window) <= self.current_watermark

    def _cleanup_time(self, window: Any) -> int:
        end: int = window.max_timestamp()
        if not self.event_time:
            return end
        return min(end + self.lateness, MAX_TIME)

    def _register_cleanup(self, window: Any) -> None:
        time = self._cleanup_time(window)
        if time < MAX_TIME:
            self.backend.register_timer(EVENT if self.event_time else PROCESSING, time, window)

    def _delete_cleanup(self, window: Any) -> None:
        time = self._cleanup_time(window)
        if time < MAX_TIME:
            self.backend.delete_timer(EVENT if self.event_time else PROCESSING, time, window)


class _MergeCallback:
    """Flink's MergingWindowAssigner.MergeCallback: records which windows to merge."""

    def __init__(self, merges: list[tuple[list[Any], Any]]) -> None:
        self._merges = merges

    def merge(self, to_be_merged: Any, merge_result: Any) -> None:
        self._merges.append((list(to_be_merged), merge_result))


class AssignerContext:
    """Flink's WindowAssignerContext."""

    def __init__(self, operator: WindowOperator) -> None:
        from scurry.runtime.functions.context import RuntimeContext

        self._clock = operator.info.clock
        self._runtime_context = RuntimeContext(operator.plan, operator.info, operator.states)

    def get_current_processing_time(self) -> int:
        """Return the processing time in milliseconds."""
        return self._clock.now()

    def get_runtime_context(self) -> Any:
        """Return the operator's runtime context."""
        return self._runtime_context


class TriggerContext:
    """Flink's TriggerContext and OnMergeContext, for the backend's current key and the current window."""

    def __init__(self, operator: WindowOperator) -> None:
        self._operator = operator
        self._trigger = operator.trigger
        self.window: Any = None
        self._merged: list[Any] = []

    # -------- calls from the operator

    def on_element(self, value: Any, timestamp: int, window: Any) -> Any:
        self.window = window
        return self._trigger.on_element(value, timestamp, window, self)

    def on_event_time(self, time: int, window: Any) -> Any:
        self.window = window
        return self._trigger.on_event_time(time, window, self)

    def on_processing_time(self, time: int, window: Any) -> Any:
        self.window = window
        return self._trigger.on_processing_time(time, window, self)

    def on_merge(self, merged: list[Any], result: Any) -> None:
        self.window, self._merged = result, [w for w in merged if w != result]
        if self._merged:
            self._trigger.on_merge(result, self)

    def clear(self, window: Any) -> None:
        self.window = window
        self._trigger.clear(window, self)

    # -------- what triggers see

    def get_current_processing_time(self) -> int:
        """Return the processing time in milliseconds."""
        return self._operator.info.clock.now()

    def get_current_watermark(self) -> int:
        """Return the operator's watermark."""
        return self._operator.current_watermark

    def get_metric_group(self) -> Any:
        """Return the operator's metric group."""
        return self._operator.assigner_context.get_runtime_context().get_metrics_group()

    def register_event_time_timer(self, time: int) -> None:
        """Call on_event_time of the window when the watermark reaches `time`."""
        self._operator.backend.register_timer(EVENT, time, self.window)

    def register_processing_time_timer(self, time: int) -> None:
        """Call on_processing_time of the window at `time`."""
        self._operator.backend.register_timer(PROCESSING, time, self.window)

    def delete_event_time_timer(self, time: int) -> None:
        """Delete an event-time timer of the window."""
        self._operator.backend.delete_timer(EVENT, time, self.window)

    def delete_processing_time_timer(self, time: int) -> None:
        """Delete a processing-time timer of the window."""
        self._operator.backend.delete_timer(PROCESSING, time, self.window)

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
        """Return the trigger state of the key and window."""
        return self._operator.states.get(state_descriptor, self.window)

    def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
        """Merge the trigger states of the merged windows into the new window's."""
        if state_descriptor.kind not in MERGEABLE:
            raise UnsupportedError(
                f"state {state_descriptor.name!r} is a {state_descriptor.kind} state, which cannot be merged: "
                "triggers of windows that merge keep list, reducing or aggregating state"
            )
        states = self._operator.states
        target = states.get(state_descriptor, self.window)
        for window in self._merged:
            target.merge(states.get(state_descriptor, window))
