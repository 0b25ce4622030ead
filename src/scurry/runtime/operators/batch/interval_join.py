"""The interval join of BATCH, where time ends after the last record of a key."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.key_records import KeyRecords
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.interval_join import IntervalJoinOperator

_time = itemgetter(0)
#: More records without partners to come are dropped.
_DROPPED = 1024
#: As many results are emitted at once.
_EMITTED = 4096


class BatchIntervalJoinOperator(IntervalJoinOperator):
    """Join the records of a key, which come in time order: the first of them are the first to be dropped."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        #: by side: the records of the current key that may still find a partner, as (time, record) in time order
        self._held: tuple[list[tuple[int, Any]], list[tuple[int, Any]]] = ([], [])

    def process_keys(self, records: KeyRecords, begin: Callable[[Any], None], watermark: int) -> None:
        origins, times = records.origins, records.times
        if self._reaching_state or min(times) == MIN_TIME:
            super().process_keys(records, begin, watermark)  # without timestamps, it raises MissingTimestampError
            return
        if isinstance(origins, int):
            return  # all are of one side
        start = 0
        for end in records.ends:
            sides = origins[start:end]
            if min(sides) < max(sides):
                self._join_key(sides, records.values[start:end], times[start:end])
            start = end

    def _join_key(self, origins: list[int], values: Values, times: Sequence[int]) -> None:
        """Join the records of a key; the partners of a record are those of the other side that are not later."""
        process, context, is_ahead = self._process, self._context, [upper >= 0 for _, upper in self._partners]
        uncopied, copy = self.collector.handing_over()
        held: tuple[Values, Values] = ([], [])
        held_times: tuple[list[int], list[int]] = ([], [])
        firsts = [0, 0]
        results: Values = []
        result_times: list[int] = []
        left = right = None
        try:
            for origin, value, time in zip(origins, values, times, strict=True):
                side = origin >> 1
                held[side].append(value)
                held_times[side].append(time)
                partners, partner_times = held[1 - side], held_times[1 - side]
                lower, upper = self._partners[side]
                firsts[side] = first = bisect_left(partner_times, time + lower, firsts[side])
                last = len(partners) if is_ahead[side] else bisect_right(partner_times, time + upper, first)
                left = right = value
                context.left = context.right = time
                for place in range(first, last):
                    if side:
                        left, context.left = partners[place], partner_times[place]
                    else:
                        right, context.right = partners[place], partner_times[place]
                    some = process(left, right, context)
                    if some is not None:
                        for result in some:
                            results.append(result if type(result) is uncopied else copy(result))
                            result_times.append(time)
                if len(results) >= _EMITTED:
                    self._emit(results, result_times)
                    results, result_times = [], []
        except Exception as error:
            raise operator_error(self.plan, error, (left, right)) from error
        self._emit(results, result_times)

    def _emit(self, results: Values, times: list[int]) -> None:
        if results:
            self.collector.look_at(results[0])
            self.collector.emit_tagged(results, times)

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
