"""Windows of BATCH: a key's records come in time order, so a window's records are neighbours and are folded at once.

Event time stands still until a key ends, and no record is late. So a window ends when a record behind it comes, without
a timer. Its function sees the watermark of the end of time, as in Flink. A property test checks that the results are
those of STREAMING.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import compress
from operator import not_
from typing import Any, NamedTuple

from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.key_records import KeyRecords
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import last_taken, operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.keys import original_key
from scurry.runtime.operators.window import WindowOperator
from scurry.runtime.operators.window_variants import AlignedWindowOperator, SessionWindowOperator

#: More records of a key are folded before it ends, and more results of several keys are emitted.
_GATHERED = 16_384
#: The windows of as many records are computed as arrays; a small job does without NumPy, whose import takes longer.
_MANY = 256
#: The contents of a window without records.
_NOTHING: Any = object()

#: The start and end of a window, its contents so far, and the places of the first record and behind the last one.
_Span = tuple[int, int, Any, int, int]


class _Spans(NamedTuple):
    """Windows of several keys, in the order of keys and ends, in columns.

    Attributes:
        firsts: The places of the first record of each.
        lasts: The places behind the last record of each.
    """

    numbers: list[int]
    starts: list[int]
    ends: list[int]
    firsts: list[int]
    lasts: list[int]


class _BatchWindowOperator(WindowOperator):
    """Fold the records of the current key, which come in time order."""

    _window_type: Any

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._values: Values = []
        self._times: list[int] = []
        #: start -> end and contents of the windows to which later records may belong, in time order
        self._unfinished: dict[int, tuple[int, Any]] = {}
        #: whether a record may belong to several windows, each of which gets a copy
        self._copies = False

    def open(self) -> None:
        super().open()
        #: whether windows are emitted as they have been folded, without state
        self._folds_only = self.spec.hook is None and not self._reaching_state

    def process_keys(self, records: KeyRecords, begin: Callable[[Any], None], watermark: int) -> None:
        origins = records.origins
        timed = origins & 1 if isinstance(origins, int) else all(origin & 1 for origin in origins)
        spans = self._spans_of_keys(records) if timed and len(records.values) >= _MANY else None
        if spans is None:
            super().process_keys(records, begin, watermark)
            return
        values = records.values
        seconds: list[int] | None = None
        if self.spec.hook is ops.WindowHook.CO_GROUP:
            of_records = [origins] * len(values) if isinstance(origins, int) else origins
            seconds = [origin >> 1 for origin in of_records]
        if self._folds_only and spans.numbers:
            self._fold_all(records.keys, spans, values)
            return
        current = -1
        for number, start, end, first, last in zip(*spans, strict=True):
            if number != current:
                self.emitter.flush(_GATHERED)
                begin(records.keys[number])
                current = number
            if seconds is None:
                contents = self._folded(start, end, _NOTHING, values[first:last])
            else:
                contents = self._by_input(values[first:last], seconds[first:last])
            self.current_watermark = MAX_TIME
            self._end(self._window_type(start, end), contents)
            self.current_watermark = MIN_TIME
        self.emitter.flush()

    def _by_input(self, values: Values, seconds: list[int]) -> tuple[Values, Values]:
        """Return the contents of a window of two inputs, given which elements are of the second one."""
        if self._copies:
            values = list(map(self.own, values))
        return list(compress(values, map(not_, seconds))), list(compress(values, seconds))

    def _fold_all(self, keys: list[Any], spans: _Spans, values: Values) -> None:
        """Emit the contents of windows whose function is but a fold."""
        fold, elements, results = self.fold.all, self.fold.elements, []
        uncopied, copy = self.collector.handing_over()
        for place, (first, last) in enumerate(zip(spans.firsts, spans.lasts, strict=True)):
            some = values[first:last]
            source = iter(some)
            try:
                contents = fold(source)
            except Exception as error:
                raise operator_error(self.plan, error, last_taken(some, source)) from error
            try:
                (result,) = elements(contents)
                results.append(result if type(result) is uncopied else copy(result))
            except Exception as error:
                window, key = self._window_type(spans.starts[place], spans.ends[place]), keys[spans.numbers[place]]
                raise operator_error(self.plan, error, f"{window} of key {original_key(key)!r}") from error
        self.collector.look_at(results[0])
        self.collector.emit_tagged(results, [end - 1 for end in spans.ends])

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if timestamps is None:
            super().process_input(index, keys, values, timestamps)  # raises MissingTimestampError
            return
        self._values += self.keyed(index, keys, values)[1]
        self._times += timestamps
        if len(self._times) > _GATHERED:
            self._fold(self._times[-1])
            self.emitter.flush()

    def end_of_key(self, watermark: int) -> None:
        self._fold(None)
        self.emitter.flush()

    def _fold(self, until: int | None) -> None:
        """Fold the gathered records, and end the windows to which no record from a time on can belong; None: all."""
        values, opened = self._values, self._unfinished
        spans = self._spans(self._times, opened)
        self._values, self._times, self._unfinished = [], [], {}
        for start, end, before, first, last in spans:
            contents = before
            if first < last:
                contents = self._folded(start, end, before, values[first:last])
            if until is not None and not self._is_over(end, until):
                self._unfinished[start] = end, contents
                continue
            self.current_watermark = MAX_TIME
            self._end(self._window_type(start, end), contents)
            self.current_watermark = MIN_TIME

    def _folded(self, start: int, end: int, before: Any, values: Values) -> Any:
        """Return the contents of a window with some more elements, at least one."""
        if self._copies:
            values = list(map(self.own, values))
        source = iter(values)
        try:
            if before is not _NOTHING:
                return self.fold.further(before, source)
            if start <= MIN_TIME or end > MAX_TIME:
                next(source)
                self._require_times(self._window_type(start, end))
                source = iter(values)
            return self.fold.all(source)
        except Exception as error:
            raise operator_error(self.plan, error, last_taken(values, source)) from error

    @abstractmethod
    def _spans_of_keys(self, records: KeyRecords) -> _Spans | None:
        """Return the windows of the records of some keys; None if their times are near the ends of 64 bits."""

    @abstractmethod
    def _spans(self, times: list[int], opened: dict[int, tuple[int, Any]]) -> Iterator[_Span]:
        """Yield the windows that records at these times belong to, and those that are open, in the order of their ends.

        Args:
            opened: start -> end and contents of the windows that are open.
        """

    @abstractmethod
    def _is_over(self, end: int, until: int) -> bool:
        """Return whether no record from a time on can belong to a window that has this end."""


class BatchAlignedWindowOperator(_BatchWindowOperator, AlignedWindowOperator):
    """Run `ops.AlignedWindow` in BATCH."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._copies = self._size > self._slide

    def _spans(self, times: list[int], opened: dict[int, tuple[int, Any]]) -> Iterator[_Span]:
        size, slide, count = self._size, self._slide, len(times)
        start, first = next(iter(opened), None), 0
        while True:
            if start in opened:  # each opened window has the last record before these, and none without it is between
                contents = opened[start][1]
                first = bisect_left(times, start, first)
            else:
                if start is not None:
                    first = bisect_left(times, start, first)
                if first == count:
                    return
                if start is None or times[first] >= start + size:
                    start = self._earliest(times[first])
                    if times[first] < start:  # it is between two windows
                        continue
                contents = _NOTHING
            assert start is not None
            yield start, start + size, contents, first, bisect_left(times, start + size, first)
            start += slide

    def _spans_of_keys(self, records: KeyRecords) -> _Spans | None:
        import numpy as np

        size, slide = self._size, self._slide
        margin, times = size + 2 * slide, np.frombuffer(records.times, np.int64)
        first, last = int(times.min()) - margin, int(times.max()) + margin
        span = last - first
        if first < MIN_TIME or last > MAX_TIME or span * len(records.keys) > MAX_TIME:
            return None
        numbers = _numbers(records)
        base = numbers * span - first  # a time plus it grows with the key and the time
        latest = times - (times - self._offset) % slide + base
        firsts = np.flatnonzero(np.diff(latest, prepend=-1))
        starts, lasts = latest[firsts], np.append(firsts[1:], len(times))
        if size != slide:
            starts = np.unique(starts - slide * np.arange((size - 1) // slide + 1)[:, np.newaxis])
            times = times + base
            firsts, lasts = times.searchsorted(starts), times.searchsorted(starts + size)
            filled = firsts < lasts
            starts, firsts, lasts = starts[filled], firsts[filled], lasts[filled]
        numbers, starts = np.divmod(starts, span)
        starts += first
        return _Spans(*(column.tolist() for column in (numbers, starts, starts + size, firsts, lasts)))

    def _earliest(self, time: int) -> int:
        """Return the start of the first window with a record of this time, or else of the next window."""
        latest = time - (time - self._offset) % self._slide
        return latest - (latest - time + self._size - 1) // self._slide * self._slide

    def _is_over(self, end: int, until: int) -> bool:
        return end <= until


class BatchSessionWindowOperator(_BatchWindowOperator, SessionWindowOperator):
    """Run `ops.SessionWindow` in BATCH."""

    def _spans(self, times: list[int], opened: dict[int, tuple[int, Any]]) -> Iterator[_Span]:
        gap, place, count = self._gap, 0, len(times)
        for start, (end, contents) in opened.items():
            place = self._joined(times, end, 0)
            yield start, times[place - 1] + gap if place else end, contents, 0, place
        while place < count:
            first, place = place, self._joined(times, times[place] + gap, place + 1)
            yield times[first], times[place - 1] + gap, _NOTHING, first, place

    def _spans_of_keys(self, records: KeyRecords) -> _Spans | None:
        import numpy as np

        gap = self._gap
        times = np.frombuffer(records.times, np.int64)
        if int(times.min()) <= MIN_TIME + gap or int(times.max()) >= MAX_TIME - gap:
            return None
        numbers = _numbers(records)
        begins = np.flatnonzero((times[1:] - gap > times[:-1]) | (numbers[1:] != numbers[:-1])) + 1
        firsts, lasts = np.concatenate(([0], begins)), np.append(begins, len(times))
        ends = times[lasts - 1] + gap
        return _Spans(*(column.tolist() for column in (numbers[firsts], times[firsts], ends, firsts, lasts)))

    def _joined(self, times: list[int], end: int, place: int) -> int:
        """Return the place behind the last record that joins a session with this end."""
        gap, count = self._gap, len(times)
        while place < count and times[place] <= end:
            end = times[place] + gap
            place += 1
        return place

    def _is_over(self, end: int, until: int) -> bool:
        return end < until


def _numbers(records: KeyRecords) -> Any:
    """Return the numbers of the keys of records, as an array."""
    import numpy as np

    ends: Any = np.array(records.ends, np.int64)
    counts: Any = np.diff(ends, prepend=0)
    return np.repeat(np.arange(len(ends)), counts)
