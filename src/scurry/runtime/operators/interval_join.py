"""The interval join (Flink's IntervalJoinOperator).

Per key and side, the entry of the state backend holds the records that may still find a partner, as
`(timestamp, record)` in time order. A timer at the time when the first of them can have no more partners removes it and
all others that are due; then the next one gets a timer. A side's slot is the namespace of its timers.
A side with many records of a key is divided into parts of the key's state (`joined_records.py`).
"""

from __future__ import annotations

import sys
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
from scurry.runtime.keys import CanonicalKey
from scurry.runtime.operators.base import KeyedOperator
from scurry.runtime.operators.joined_records import DividedRecords
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.slots import EVENT, JOINED, PARTS

#: A side with more records of a key is divided; not in BATCH, where one key is in memory.
UNDIVIDED = 1024

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
        self._undivided = UNDIVIDED if info.mode != "BATCH" else sys.maxsize
        #: by key and slot
        self._divided: dict[tuple[CanonicalKey, str], DividedRecords] = {}
        self._process = spec.function.process_element
        self._context = PairContext()

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        super().bind(backend, watermark)
        self._divided.clear()

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        assert keys is not None
        timestamps = self._required(values, timestamps)
        backend, watermark = self.backend, self.current_watermark
        own, other, kept_for = JOINED[index], JOINED[1 - index], self._kept_for[index]
        lower, upper = self._partners[index]
        undivided, find_divided = self._undivided, self._divided.get
        results: Values = []
        times: list[int] = []
        for key, value, time, entry in zip(keys, values, timestamps, backend.found(keys), strict=True):
            if time < watermark:
                self._late(index, value, time)
                continue
            backend.key, backend.entry = key, entry
            held = entry.get(own)
            if held is None:
                parts = entry.get(PARTS)
                if parts is None or own not in parts:
                    held = entry[own] = []
            if held is None:
                side = find_divided((key, own))
                if side is None:
                    side = self._records(own)
                is_first = side.add(time, (time, value))
            else:
                position = len(held) if not held or held[-1][0] <= time else bisect_right(held, time, key=_time)
                held.insert(position, (time, value))
                is_first = position == 0
                if len(held) > undivided:
                    self._divided[key, own] = DividedRecords.of(backend, key, entry, own)
            if is_first:
                backend.register_timer(EVENT, min(time + kept_for, MAX_TIME), own)
            partners = entry.get(other)
            if partners is None and PARTS in entry and other in entry[PARTS]:
                side = find_divided((key, other))
                if side is None:
                    side = self._records(other)
                found = side.between(time + lower, time + upper)
                if found:
                    self._join(index, time, value, found, results, times)
            elif partners:
                first = bisect_left(partners, time + lower, key=_time)
                last = bisect_right(partners, time + upper, first, key=_time)
                if first < last:
                    self._join(index, time, value, partners[first:last], results, times)
        if results:
            self.collector.look_at(results[0])
        self.collector.emit_tagged(results, times)

    def _records(self, slot: str) -> DividedRecords:
        """Return the records of a side of the current key, which is divided."""
        backend = self.backend
        place = backend.key, slot
        found = self._divided.get(place)
        if found is None:
            found = self._divided[place] = DividedRecords(backend, backend.key, backend.entry, slot)
        return found

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
        uncopied, copy = self.collector.handing_over()
        left, right = value, None
        try:
            for partner_time, partner in partners:
                if index == 0:
                    right, context.left, context.right = partner, time, partner_time
                else:
                    left, right, context.left, context.right = partner, value, partner_time, time
                some = process(left, right, context)
                if some is not None:
                    at = max(time, partner_time)
                    for result in some:
                        results.append(result if type(result) is uncopied else copy(result))
                        times.append(at)
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
        kept_for = self._kept_for[JOINED.index(namespace)]
        if held is None:
            if PARTS in entry and namespace in entry[PARTS]:
                self._remove(namespace, MAX_TIME if watermark >= MAX_TIME else watermark - kept_for)
            return  # or an earlier timer has removed the records
        over = len(held) if watermark >= MAX_TIME else bisect_right(held, watermark - kept_for, key=_time)
        if over == len(held):
            del entry[namespace]
        else:
            del held[:over]
            self.backend.register_timer(EVENT, min(held[0][0] + kept_for, MAX_TIME), namespace)

    def _remove(self, slot: str, until: int) -> None:
        """Remove the records of a divided side of the current key up to a time; set the timer of the next ones."""
        first = self._records(slot).remove(until)
        if first is not None:
            kept_for = self._kept_for[JOINED.index(slot)]
            self.backend.register_timer(EVENT, min(first + kept_for, MAX_TIME), slot)
        entry = self.backend.entry
        if PARTS not in entry or slot not in entry[PARTS]:
            del self._divided[self.backend.key, slot]


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
