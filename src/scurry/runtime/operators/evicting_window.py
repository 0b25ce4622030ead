"""The window operator with an evictor (Flink's EvictingWindowOperator).

A window holds all its elements as `(element, timestamp)`. At each firing, reduce and aggregate functions run again over
the elements that the evictor has left.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from scurry.common._copies import copy_of, itself
from scurry.common.window_elements import TimestampedValue
from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.window import TriggerContext, WindowOperator
from scurry.runtime.operators.window_functions import ListFold


class EvictingWindowOperator(WindowOperator):
    """Let the evictor remove elements before and after the window function sees them."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._elements_of = self.fold.elements_of
        self.fold = ListFold()
        self.own = copy_of if collector.copies else itself
        self._evictor = self.spec.evictor
        self._needs_elements = self.spec.pre_aggregation is ops.PreAggregation.REDUCE
        self._evictor_context = EvictorContext(self.trigger_context)

    def kept(self, elements: Values, timestamps: Timestamps) -> Values:
        return list(zip(elements, repeat(None) if timestamps is None else timestamps, strict=False))

    def _fire(self, result: Any, window: Any, slot: Any, time: int) -> None:
        entry = self.backend.entry
        if result.is_fire() and slot in entry:
            left = self._evaluate(window, [TimestampedValue._make(kept) for kept in entry[slot]], time)
            if left:
                entry[slot] = [tuple(element) for element in left]
            else:
                del entry[slot]
        if result.is_purge():
            entry.pop(slot, None)

    def _evaluate(self, window: Any, elements: list[TimestampedValue], time: int) -> list[TimestampedValue]:
        """Emit the results of a window; return the elements it keeps."""
        self._evictor.evict_before(elements, len(elements), window, self._evictor_context)
        if elements or not self._needs_elements:
            self.emitter.evaluate(window, self._elements_of([element.value for element in elements]), time)
        self._evictor.evict_after(elements, len(elements), window, self._evictor_context)
        return elements


class EvictorContext:
    """Flink's Evictor.EvictorContext."""

    def __init__(self, times: TriggerContext) -> None:
        self.get_current_processing_time = times.get_current_processing_time
        self.get_current_watermark = times.get_current_watermark
        self.get_metric_group = times.get_metric_group
