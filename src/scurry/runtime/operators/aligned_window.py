"""The window operator for the common case: tumbling and sliding event-time windows that fire once, at their end.

Only their start distinguishes the windows of a key, and only the watermark makes them fire. So neither the assigner
nor the trigger is called per record. A property test checks that the results are those of `WindowOperator`.
"""

from __future__ import annotations

from typing import Any

from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.window import WindowOperator
from scurry.runtime.state.slots import EVENT, aligned_contents


class AlignedWindowOperator(WindowOperator):
    """Run `ops.AlignedWindow`; the start of a window is the namespace of its timer."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        assert self.spec.aligned is not None
        self._size, self._slide, self._offset = self.spec.aligned

    def open(self) -> None:
        super().open()
        probe = self.assigner.assign_windows(None, 0, self.assigner_context)
        self._window_type = type(probe[0])

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if timestamps is None:
            super().process_input(index, keys, values, timestamps)  # raises MissingTimestampError
            return
        keys, values = self.keyed(index, keys, values)
        backend, fold = self.backend, self.fold
        find, load, first, more = self.finder(self.spec.pre_aggregate), backend.load, fold.first, fold.more
        size, slide, offset, watermark = self._size, self._slide, self._offset, self.current_watermark
        tumbling, last, own = size == slide, MAX_TIME - size, self.own
        value: Any = None
        try:
            for key, value, time in zip(keys, values, timestamps, strict=True):
                start = time - (time - offset) % slide
                if start + size <= watermark + 1:
                    self._late(value, time)
                    continue
                entry = find(key)
                if entry is None:
                    entry = load(key)
                slot = (start,)  # aligned_contents(start)
                if tumbling and slot in entry:
                    entry[slot] = more(entry[slot], value)
                    continue
                backend.key, backend.entry = key, entry
                for each in (start,) if tumbling else range(start, time - size, -slide):
                    slot = (each,)
                    if each != start:
                        value = own(value)  # noqa: PLW2901
                    if slot in entry:
                        entry[slot] = more(entry[slot], value)
                    elif each + size > watermark + 1:
                        if not MIN_TIME < each <= last:
                            self._require_times_at(time)
                        entry[slot] = first(value)
                        backend.register_timer(EVENT, each + size - 1, each)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error

    def _require_times_at(self, time: int) -> None:
        for window in self.assigner.assign_windows(None, time, self.assigner_context):
            self._require_times(window)

    def on_event_time(self, time: int, start: Any) -> None:
        contents = self.backend.entry.pop(aligned_contents(start), None)
        self._end(self._window_type(start, start + self._size), contents)
