"""The interval join of BATCH, where time ends after the last record of a key."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import Any

from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.interval_join import IntervalJoinOperator

_time = itemgetter(0)
#: More records without partners to come are dropped.
_DROPPED = 1024


class BatchIntervalJoinOperator(IntervalJoinOperator):
    """Join the records of the current key, which come in time order: the first of them are the first to be dropped."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        #: by side: the records of the current key that may still find a partner, as (time, record) in time order
        self._held: tuple[list[tuple[int, Any]], list[tuple[int, Any]]] = ([], [])

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        timestamps = self._required(values, timestamps)
        own, partners = self._held[index], self._held[1 - index]
        lower, upper = self._partners[index]
        results: Values = []
        times: list[int] = []
        own += zip(timestamps, values, strict=True)
        if not partners:
            return
        first = 0
        for value, time in zip(values, timestamps, strict=True):
            first = bisect_left(partners, time + lower, first, key=_time)
            last = bisect_right(partners, time + upper, first, key=_time)
            if first < last:
                self._join(index, time, value, partners[first:last], results, times)
        if first > _DROPPED:
            del partners[:first]
        self.collector.emit_tagged(results, times)

    def end_of_key(self, watermark: int) -> None:
        for held in self._held:
            held.clear()
