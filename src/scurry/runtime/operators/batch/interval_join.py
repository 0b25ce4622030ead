"""The interval join of BATCH, where time ends after the last record of a key."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.key_records import KeyRecords
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.interval_join import IntervalJoinOperator

_time = itemgetter(0)
#: More records without partners to come are dropped.
_DROPPED = 1024
#: As many results are emitted at once, and as many pairs are formed, unless one record has more partners.
_EMITTED = 4096
#: The partners of as many records are found as arrays; a small job does without NumPy, whose import takes longer.
_MANY = 256


class _Partners(NamedTuple):
    """The partners of records among those of the other side that come before them, in arrays.

    Attributes:
        firsts: Where the partners of each record begin among the places of the other side.
        counts: How many partners it has.
    """

    sides: Any
    places: tuple[Any, Any]
    firsts: Any
    counts: Any

    def pairs(self, first: int, last: int) -> tuple[Any, Any]:
        """Return the places of the left and of the right records of all pairs of the records between two places."""
        import numpy as np

        counts = self.counts[first:last]
        own = np.repeat(np.arange(first, last), counts)
        behind = np.cumsum(counts)
        of_other = np.arange(len(own)) - np.repeat(behind - counts, counts) + self.firsts[own]
        is_right = self.sides[own] == 1
        partners = np.empty(len(own), np.int64)
        for side in (0, 1):
            chosen = is_right if side else ~is_right
            partners[chosen] = self.places[side][of_other[chosen]]
        return np.where(is_right, partners, own), np.where(is_right, own, partners)


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
        partners = self._partners_of(records, origins) if len(origins) >= _MANY else None
        if partners is not None:
            self._join_pairs(records, partners)
            return
        start = 0
        for end in records.ends:
            sides = origins[start:end]
            if min(sides) < max(sides):
                self._join_key(sides, records.values[start:end], times[start:end])
            start = end

    def _partners_of(self, records: KeyRecords, origins: list[int]) -> _Partners | None:
        """Return the partners of the records of some keys; None if their times are near the ends of 64 bits."""
        import numpy as np

        times = np.frombuffer(records.times, np.int64)
        margin = max(map(abs, self._partners[0]))
        low, high = int(times.min()) - margin, int(times.max()) + margin
        span = high - low + 1
        if low < MIN_TIME or high > MAX_TIME or span * len(records.keys) > MAX_TIME:
            return None
        ends: Any = np.array(records.ends, np.int64)
        # a time plus that of its key grows with the key and the time, and partners of other keys are out of reach
        times = times + np.repeat(np.arange(len(ends)) * span - low, np.diff(ends, prepend=0))
        sides = np.array(origins, np.int64) >> 1
        places = np.flatnonzero(sides == 1), np.flatnonzero(sides == 0)
        firsts, lasts = np.empty(len(sides), np.int64), np.empty(len(sides), np.int64)
        for side, (others, (lower, upper)) in enumerate(zip(places, self._partners, strict=True)):
            own, other_times = places[1 - side], times[others]
            firsts[own] = other_times.searchsorted(times[own] + lower)
            in_reach = other_times.searchsorted(times[own] + upper, "right")
            lasts[own] = np.minimum(in_reach, others.searchsorted(own))
        return _Partners(sides, places, firsts, np.maximum(lasts - firsts, 0))

    def _join_pairs(self, records: KeyRecords, partners: _Partners) -> None:
        """Join the records of some keys, the pairs of several records at once."""
        import numpy as np

        times: Any = np.frombuffer(records.times, np.int64)
        behind = np.cumsum(partners.counts)
        first, count, done = 0, len(behind), 0
        while first < count:
            last = max(int(behind.searchsorted(done + _EMITTED, "right")), first + 1)
            lefts, rights = partners.pairs(first, last)
            if len(lefts):
                self._process_pairs(records.values, lefts.tolist(), rights.tolist(), times[lefts], times[rights])
            first, done = last, int(behind[last - 1])

    def _process_pairs(self, values: Values, lefts: list[int], rights: list[int], *times: Any) -> None:
        """Call the function with pairs, given the places and the times of their records; emit its results."""
        import numpy as np

        process, context, get = self._process, self._context, values.__getitem__
        uncopied, copy = self.collector.handing_over()
        results: Values = []
        result_times: list[int] = []
        left = right = None
        columns = [column.tolist() for column in (*times, np.maximum(*times))]
        try:
            for left, right, context.left, context.right, time in zip(
                map(get, lefts), map(get, rights), *columns, strict=True
            ):
                some = process(left, right, context)
                if some is not None:
                    for result in some:
                        results.append(result if type(result) is uncopied else copy(result))
                        result_times.append(time)
        except Exception as error:
            raise operator_error(self.plan, error, (left, right)) from error
        self._emit(results, result_times)

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
