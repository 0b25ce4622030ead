"""The window operator for plain sessions: event time, a fixed gap, one firing when the watermark passes the end.

Nothing but its ends distinguishes a session, and nothing but the watermark makes it fire. So a record that belongs to
the session in flight costs two comparisons; results are those of `WindowOperator`, as a property test makes sure.
"""

from __future__ import annotations

from typing import Any

from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.collector import Collector, Timestamps, Values
from scurry.runtime.context import TaskInfo
from scurry.runtime.failure import operator_error
from scurry.runtime.keys import original_key
from scurry.runtime.operators.window import WindowOperator
from scurry.runtime.state.backend import EVENT

#: Slot of a key's sessions in flight: lists [start, end, contents].
SESSIONS = ("window-contents", "sessions")


def plain_sessions(operator: ops.Operator) -> bool:
    """Whether a window operator is of the common kind; late elements must find their session gone."""
    if not isinstance(operator, ops.Window) or operator.evictor is not None:
        return False
    return operator.session_gap is not None and operator.allowed_lateness == 0


class SessionWindowOperator(WindowOperator):
    """Per key, each session has a timer at its end or before.

    A session that grows keeps its timer, which is set anew when it fires too early.
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
            super().process_input(index, keys, values, timestamps)  # raises what a record without a timestamp deserves
            return
        if keys is None:
            keys = [0] * len(values)  # window_all
        backend, more, gap = self.backend, self.fold.more, self._gap
        find, load = backend.entries.get, backend.load
        value: Any = None
        try:
            for key, value, time in zip(keys, values, timestamps, strict=True):
                entry = find(key)
                if entry is None:
                    entry = load(key)
                sessions = entry.get(SESSIONS)
                if sessions is not None and len(sessions) == 1:
                    session = sessions[0]
                    if session[0] - gap <= time <= session[1]:
                        if time + gap > session[1]:
                            session[1] = time + gap
                        elif time < session[0]:
                            session[0] = time
                        session[2] = more(session[2], value)
                        continue
                backend.key, backend.entry = key, entry
                self._add_to(sessions or [], value, time)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error

    def _add_to(self, sessions: list[Any], value: Any, time: int) -> None:
        """Adds a record to the sessions it touches, which become one, or begins a new one."""
        start, end = time, time + self._gap
        touched: list[Any] = []
        kept: list[Any] = []
        for session in sessions:
            (touched if session[0] <= end and start <= session[1] else kept).append(session)
        if touched:
            start = min(start, *(session[0] for session in touched))
            end = max(end, *(session[1] for session in touched))
            before = self.fold.merge([session[2] for session in touched]) if len(touched) > 1 else touched[0][2]
            contents = self.fold.more(before, value)
        elif end - 1 <= self.current_watermark:
            self._late(value, time)
            return
        else:
            contents = self.fold.first(value)
            self.backend.register_timer(EVENT, end - 1, None)
        self.backend.entry[SESSIONS] = [*kept, [start, end, contents]]

    def on_event_time(self, time: int, namespace: Any) -> None:
        entry = self.backend.entry
        sessions = entry.pop(SESSIONS, ())
        left = []
        for session in sessions:
            start, end, contents = session
            if end - 1 > time:
                left.append(session)
                self.backend.register_timer(EVENT, end - 1, None)
                continue
            window = self._window_type(start, end)
            try:
                self.emitter.emit(window, contents)
                self.emitter.clear(window)
            except Exception as error:
                raise operator_error(self.plan, error, f"{window} of key {original_key(self.backend.key)!r}") from error
        if left:
            entry[SESSIONS] = left

    def fired(self) -> None:
        self.emitter.flush()
