"""The interval join (Flink's IntervalJoinOperator).

Per key and side, the entry of the state backend holds the records that may still find a partner, as
`(timestamp, record)` in time order. A timer at the time when the first of them can have no more partners removes it and
all others that are due; then the next one gets a timer. A side's slot is the namespace of its timers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import Any

from scurry.errors import MissingTimestampError
from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.base import KeyedOperator
from scurry.runtime.state.slots import EVENT, JOINED

_time = itemgetter(0)


class IntervalJoinOperator(KeyedOperator):
    """Call a ProcessJoinFunction with each pair of records whose times are close enough."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        spec = plan.operator
        assert isinstance(spec, ops.IntervalJoin)
        self._late_tags = (spec.left_late_tag, spec.right_late_tag)
        #: by side: the time range of a record's partners, relative to the record
        self._partners = ((spec.lower, spec.upper), (-spec.upper, -spec.lower))
        #: by side: how long a record is kept after its time
        self._kept_for = (max(0, spec.upper), max(0, -spec.lower))
        self._process = spec.function.process_element
        self._context = PairContext()

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        assert keys is not None
        timestamps = self._required(values, timestamps)
        backend, watermark = self.backend, self.current_watermark
        find, load = backend.entries.get, backend.load
        own, other, kept_for = JOINED[index], JOINED[1 - index], self._kept_for[index]
        lower, upper = self._partners[index]
        results: Values = []
        times: list[int] = []
        for key, value, time in zip(keys, values, timestamps, strict=True):
            if time < watermark:
                self._late(index, value, time)
                continue
            entry = find(key)
            if entry is None:
                entry = load(key)
            backend.key, backend.entry = key, entry
            held = entry.get(own)
            if held is None:
                held = entry[own] = []
            position = len(held) if not held or held[-1][0] <= time else bisect_right(held, time, key=_time)
            held.insert(position, (time, value))
            if position == 0:
                backend.register_timer(EVENT, min(time + kept_for, MAX_TIME), own)
            partners = entry.get(other)
            if partners:
                first = bisect_left(partners, time + lower, key=_time)
                last = bisect_right(partners, time + upper, first, key=_time)
                if first < last:
                    self._join(index, time, value, partners[first:last], results, times)
        self.collector.emit_tagged(results, times)

    def _required(self, values: Values, timestamps: Timestamps) -> list[int]:
        """Return the timestamps of a block, in which each record must have one."""
        if timestamps and min(timestamps) > MIN_TIME:
            return timestamps
        record = values[timestamps.index(MIN_TIME)] if timestamps else values[0]
        error = MissingTimestampError("the record has no timestamp, and interval joins compare timestamps")
        hint = "call assign_timestamps_and_watermarks(...) before key_by on both streams"
        raise operator_error(self.plan, error, record, hint) from error

    def _join(
        self, index: int, time: int, value: Any, partners: list[tuple[int, Any]], results: Values, times: list[int]
    ) -> None:
        """Call the function with a record and each of its partners; add its output to the results."""
        process, context = self._process, self._context
        left, right = value, None
        try:
            for partner_time, partner in partners:
                if index == 0:
                    right, context.left, context.right = partner, time, partner_time
                else:
                    left, right, context.left, context.right = partner, value, partner_time, time
                some = process(left, right, context)
                if some is not None:
                    before = len(results)
                    results += self.collector.handed_over(some)
                    times += [max(time, partner_time)] * (len(results) - before)
        except Exception as error:
            raise operator_error(self.plan, error, (left, right)) from error

    def _late(self, index: int, value: Any, time: int) -> None:
        tag = self._late_tags[index]
        if tag is not None:
            self.collector.emit_side(tag, [value], [time])
        else:
            self.info.count(self.plan.id, "numLateRecordsDropped")

    def on_event_time(self, time: int, namespace: Any) -> None:
        entry, watermark = self.backend.entry, self.current_watermark
        held = entry.get(namespace)
        if held is None:
            return  # an earlier timer has removed the records
        kept_for = self._kept_for[JOINED.index(namespace)]
        over = len(held) if watermark >= MAX_TIME else bisect_right(held, watermark - kept_for, key=_time)
        if over == len(held):
            del entry[namespace]
        else:
            del held[:over]
            self.backend.register_timer(EVENT, min(held[0][0] + kept_for, MAX_TIME), namespace)


class PairContext:
    """Flink's ProcessJoinFunction.Context."""

    __slots__ = ("left", "right")

    def __init__(self) -> None:
        self.left = self.right = MIN_TIME

    def get_left_timestamp(self) -> int:
        """Return the timestamp of the left record."""
        return self.left

    def get_right_timestamp(self) -> int:
        """Return the timestamp of the right record."""
        return self.right

    def get_timestamp(self) -> int:
        """Return the timestamp of the results."""
        return max(self.left, self.right)
