"""Variants of the window operator: aligned windows that fire once, plain sessions, windows with an evictor."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

from scurry.common._copies import copy_of, itself
from scurry.common.window_elements import TimestampedValue
from scurry.errors import TimestampError
from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.keys import CanonicalKey, original_key
from scurry.runtime.operators.window import TriggerContext, WindowOperator
from scurry.runtime.operators.window_functions import ListFold
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.slots import CONTENTS, EVENT, PARTS, PARTS_TIMER, SESSIONS, aligned_contents

#: A key with more open windows than this many, and than so many times those of one record, keeps new ones in parts.
_UNDIVIDED, _TIMES = 128, 4

#: The number of windows, which follow each other, that a part holds: a part of the layout, which savepoints have.
_WINDOWS = 16


#: In place of the contents of a window that a key does not have.
_NONE = object()


class AlignedWindowOperator(WindowOperator):
    """Run `ops.AlignedWindow`; the start of a window is the namespace of its timer.

    While a key has many open windows, as when one of the files that are read is ahead of another, new ones are in parts
    of its state, with their timers. The directory is the time at which the last of those windows ends; at that time, or
    before, a timer of the key removes the directory or waits for its new time.
    """

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        assert self.spec.aligned is not None
        self._size, self._slide, self._offset = self.spec.aligned
        self._span = self._slide * _WINDOWS
        #: a key with as many slots keeps new windows in parts: one for each window, and that of its timers
        self._divides_at = max(_UNDIVIDED, _TIMES * self._size // self._slide) + 1 if info.mode != "BATCH" else MAX_TIME
        #: by number of a window: its slot, None if it has ended at the watermark at which that was found
        self._slots: dict[int, tuple[int] | None] = {}
        self._slots_at = MIN_TIME
        #: by key and number: the keys and entries of parts
        self._parts: dict[tuple[CanonicalKey, int], tuple[bytes, Entry]] = {}
        #: windows that a batch has touched: the entry of their key, in which they are, and their part
        self._taken: list[tuple[Entry, Entry, tuple[int]]] = []

    def open(self) -> None:
        super().open()
        probe = self.assigner.assign_windows(None, 0, self.assigner_context)
        self._window_type = type(probe[0])

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        super().bind(backend, watermark)
        self._parts.clear()
        self._taken.clear()

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if timestamps is None:
            super().process_input(index, keys, values, timestamps)  # raises MissingTimestampError
            return
        keys, values = self.keyed(index, keys, values)
        backend, fold = self.backend, self.fold
        first, more, own = fold.first, fold.more, self.own
        size, slide, watermark = self._size, self._slide, self.current_watermark
        tumbling, last, divides_at = size == slide, MAX_TIME - size, self._divides_at
        found = self.found(keys, self.spec.pre_aggregate)
        value: Any = None
        try:
            for key, value, time, slot, entry in zip(
                keys, values, timestamps, self._slots_of(timestamps), found, strict=True
            ):
                if slot is None:
                    self._late(value, time)
                    continue
                contents = entry.get(slot, _NONE)
                if tumbling and contents is not _NONE:
                    entry[slot] = more(contents, value)
                    continue
                backend.key, backend.entry = key, entry
                divided = len(entry) > divides_at or (PARTS in entry and CONTENTS in entry[PARTS])
                (start,) = slot
                for each in (start,) if tumbling else range(start, time - size, -slide):
                    slot = (each,)  # noqa: PLW2901
                    if each != start:
                        value = own(value)  # noqa: PLW2901
                    if slot in entry:
                        entry[slot] = more(entry[slot], value)
                    elif each + size > watermark + 1:
                        if not MIN_TIME < each <= last:
                            self._require_times_at(time)
                        if not divided:
                            entry[slot] = first(value)
                            backend.register_timer(EVENT, each + size - 1, each)
                        elif self._take_from_part(slot):
                            entry[slot] = more(entry[slot], value)
                        else:
                            entry[slot] = first(value)
                            self._begin_in_part(slot)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error

    def _slots_of(self, times: Sequence[int]) -> list[tuple[int] | None]:
        """Return the slot of the last window of each time, None of a time all of whose windows have ended.

        Windows follow each other by the slide, so they have numbers: most times of a block are in few windows.
        """
        slide, offset = self._slide, self._offset
        if self._slots_at != self.current_watermark:
            self._slots.clear()
            self._slots_at = self.current_watermark
        slots, shifted = self._slots, times if offset == 0 else [time - offset for time in times]
        try:
            return [slots[time // slide] for time in shifted]
        except KeyError:
            for number in {time // slide for time in shifted}.difference(slots):
                start = number * slide + offset
                slots[number] = aligned_contents(start) if start + self._size > self.current_watermark + 1 else None
            return [slots[time // slide] for time in shifted]

    def _part_of(self, slot: tuple[int]) -> tuple[bytes, Entry]:
        """Return the key and entry of the part that a window of the current key is in, or will be."""
        place = self.backend.key, slot[0] // self._span
        found = self._parts.get(place)
        if found is None:
            found = self._parts[place] = self.backend.part_of(place[0], CONTENTS, place[1])
        return found

    def _take_from_part(self, slot: tuple[int]) -> bool:
        """Move a window of the current key to its entry until the batch ends; return whether it is open."""
        _, part = self._part_of(slot)
        if slot not in part:
            return False
        entry = self.backend.entry
        entry[slot] = part.pop(slot)
        self._taken.append((entry, part, slot))
        return True

    def _begin_in_part(self, slot: tuple[int]) -> None:
        """Let a new window of the current key be in a part from the end of the batch on; set its timer there."""
        backend, end = self.backend, slot[0] + self._size - 1
        key, entry = backend.key, backend.entry
        name, part = self._part_of(slot)
        self._taken.append((entry, part, slot))
        directory = entry.setdefault(PARTS, {})
        if CONTENTS not in directory:
            directory[CONTENTS] = end
            backend.register_timer(EVENT, end, PARTS_TIMER)
        elif end > directory[CONTENTS]:
            directory[CONTENTS] = end
        backend.key, backend.entry = name, part
        backend.register_timer(EVENT, end, slot[0])
        backend.key, backend.entry = key, entry

    def write_back(self) -> None:
        for entry, part, slot in self._taken:
            if slot in entry:
                part[slot] = entry.pop(slot)
        self._taken.clear()

    def _require_times_at(self, time: int) -> None:
        for window in self.assigner.assign_windows(None, time, self.assigner_context):
            self._require_times(window)

    def on_event_time(self, time: int, start: Any) -> None:
        backend = self.backend
        if start == PARTS_TIMER:
            last = backend.entry[PARTS][CONTENTS]
            if last > time:
                backend.register_timer(EVENT, last, PARTS_TIMER)
            else:
                del backend.entry[PARTS][CONTENTS]
                if not backend.entry[PARTS]:
                    del backend.entry[PARTS]
            return
        slot = aligned_contents(start)
        if slot in backend.entry:
            contents = backend.entry.pop(slot)
        else:  # its part has the timer, and the entry of the key the window, which records of this batch have touched
            contents = backend.select(backend.key).pop(slot, None)
        if self.spec.hook is not None:
            backend.select(backend.key)  # the function may use state of the key, also if the window was in a part
        self._end(self._window_type(start, start + self._size), contents)


class SessionWindowOperator(WindowOperator):
    """Run `ops.SessionWindow`; each session of a key has a timer at its end or before.

    A session that grows keeps its timer; when that fires too early, the timer is set again.
    """

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        assert self.spec.session_gap is not None
        self._gap = self.spec.session_gap

    def open(self) -> None:
        super().open()
        self._window_type = type(self.assigner.assign_windows(None, 0, self.assigner_context)[0])

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if timestamps is None:
            super().process_input(index, keys, values, timestamps)  # raises MissingTimestampError
            return
        keys, values = self.keyed(index, keys, values)
        backend, more, gap = self.backend, self.fold.more, self._gap
        found = self.found(keys, self.spec.pre_aggregate)
        value: Any = None
        try:
            for key, value, time, entry in zip(keys, values, timestamps, found, strict=True):
                sessions = entry.get(SESSIONS)
                if sessions is not None:
                    last = len(sessions) - 1
                    while last >= 0 and time + gap < sessions[last][0]:
                        last -= 1
                    session = sessions[last]
                    if last >= 0 and time <= session[1]:
                        if last == 0 or sessions[last - 1][1] < time:
                            session[2] = more(session[2], value)
                            if time + gap > session[1]:
                                session[1] = time + gap
                            elif time < session[0]:
                                session[0] = time
                            continue
                        backend.entry = entry
                        self._join(last, value, time)
                        continue
                backend.key, backend.entry = key, entry
                self._begin(value, time)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error

    def _begin(self, value: Any, time: int) -> None:
        end = time + self._gap
        if end - 1 <= self.current_watermark:
            self._late(value, time)
            return
        if end > MAX_TIME:
            self._require_times(self._window_type(time, end))
        sessions = self.backend.entry.setdefault(SESSIONS, [])
        insort(sessions, [time, end, self.fold.first(value), end - 1], key=itemgetter(0))
        self.backend.register_timer(EVENT, end - 1, None)

    def _join(self, last: int, value: Any, time: int) -> None:
        """Merge the sessions that a record touches, the last of which is known, into one."""
        sessions: list[Any] = self.backend.entry[SESSIONS]
        first = last
        while first > 0 and time <= sessions[first - 1][1]:
            first -= 1
        starts, ends, contents, timers = zip(*sessions[first : last + 1], strict=True)
        merged = self.fold.more(self.fold.merge(list(contents)), value)
        joined = [min(time, *starts), max(time + self._gap, *ends), merged, max(timers)]
        sessions[first : last + 1] = [joined]

    def on_event_time(self, time: int, namespace: Any) -> None:
        entry = self.backend.entry
        sessions = entry.get(SESSIONS)
        if sessions is None:
            return  # the timer of a session that was merged into another
        while sessions and sessions[0][1] - 1 <= time:
            start, end, contents, _ = sessions.pop(0)
            self._end(self._window_type(start, end), contents)
        if not sessions:
            del entry[SESSIONS]
        elif sessions[0][3] <= time:  # it has grown
            if sessions[0][1] > MAX_TIME:
                self._require_times_of(self._window_type(*sessions[0][:2]))
            sessions[0][3] = sessions[0][1] - 1
            self.backend.register_timer(EVENT, sessions[0][3], None)

    def _require_times_of(self, window: Any) -> None:
        """Refuse a session that has grown beyond the end of time."""
        try:
            self._require_times(window)
        except TimestampError as error:
            raise operator_error(self.plan, error, f"{window} of key {original_key(self.backend.key)!r}") from error


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
