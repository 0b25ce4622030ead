"""The window operator for plain sessions: event time, a fixed gap, one firing when the watermark passes the end.

Only its ends distinguish a session, and only the watermark makes it fire. So a record that belongs to the latest
session costs two comparisons. A property test checks that the results are those of `WindowOperator`.
"""

from __future__ import annotations

from bisect import insort
from operator import itemgetter
from typing import Any

from scurry.errors import TimestampError
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.keys import original_key
from scurry.runtime.operators.window import WindowOperator
from scurry.runtime.state.slots import EVENT, SESSIONS


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
        find, load = self.finder(self.spec.pre_aggregate), backend.load
        value: Any = None
        try:
            for key, value, time in zip(keys, values, timestamps, strict=True):
                entry = find(key)
                if entry is None:
                    entry = load(key)
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
