"""Patterns of events (Flink's CepOperator).

Per key, the entry of the state backend holds the partial matches and the events that the watermark has not reached.
While a micro-batch runs, both are in memory; `write_back` moves them to keyed state.

Flink has a timer for each event and one for the end of each window. Here events that arrived in the same micro-batch
need none, and a key has one timer, for the first thing that is due. What a timer of Flink's does (`_pass`) is the same,
and happens at the same watermarks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cmp_to_key
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from scurry.cep.patterns.automaton import compile_nfa
from scurry.cep.patterns.pattern import Pattern
from scurry.errors import MissingTimestampError
from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.base import KeyedOperator
from scurry.runtime.operators.cep.run import Emitted, MatchContext, PartialMatches, PatternRun, StatelessContext
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.slots import EVENT, PARTIAL_MATCHES, PROCESSING, WAITING_EVENTS

#: Return the time of an event that waits.
time_of = itemgetter(0)


class Due(NamedTuple):
    """Events that the watermark has reached, in time order."""

    keys: list[Any]
    events: Values
    times: list[int]


class WaitingEvents:
    """The events of a micro-batch that wait."""

    def __init__(self) -> None:
        self._keys: list[Any] = []
        self._events: Values = []
        self._times: list[int] = []

    def add(self, keys: list[Any], events: Values, times: list[int]) -> None:
        self._keys += keys
        self._events += events
        self._times += times

    def take(self, watermark: int) -> Due | None:
        """Remove and return the events that the watermark has reached; None without any."""
        keys, events, times = self._keys, self._events, self._times
        if not times or min(times) > watermark:
            return None
        order = sorted(range(len(times)), key=times.__getitem__)
        first_later = len(times) if max(times) <= watermark else bisect_right(order, watermark, key=times.__getitem__)
        later = sorted(order[first_later:])
        self._keys, self._events, self._times = (
            [keys[at] for at in later],
            [events[at] for at in later],
            [times[at] for at in later],
        )
        order = order[:first_later]
        return Due([keys[at] for at in order], [events[at] for at in order], [times[at] for at in order])

    def by_key(self) -> Iterator[tuple[Any, list[tuple[int, Any]]]]:
        """Yield the events of each key, with their times, in the order in which they came."""
        found: dict[Any, list[tuple[int, Any]]] = {}
        for key, event, time in zip(self._keys, self._events, self._times, strict=True):
            found.setdefault(key, []).append((time, event))
        yield from found.items()


#: Processing of a key's events: the automaton, the partial matches, and the position of the first event it needs.
_Passage = tuple[PatternRun, PartialMatches, int]


class CepOperator(KeyedOperator):
    """Run `ops.Cep`."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        spec = plan.operator
        assert isinstance(spec, ops.Cep)
        self._event_time = spec.event_time
        self._late_tag = spec.late_tag
        self._comparator = None if spec.comparator is None else _sort_key(spec.comparator)
        self._conditions = None if spec.conditions is None else spec.conditions.open()
        self._context = MatchContext(info.clock.now)
        self._emitted = Emitted(self._context, self.collector)
        #: the patterns, which are processed in this order
        self._runs: list[PatternRun] = []
        if spec.pattern is not None:
            self._runs.append(self._run_of(spec.pattern, PARTIAL_MATCHES))
        self._reset()

    def _run_of(self, pattern: Pattern, slot: Any, **described: Any) -> PatternRun:
        """Return the matcher of a pattern; `described` says more of it if it is one of several.

        Raises:
            MalformedPatternError: Flink refuses the pattern, or an expression in it is wrong.
        """
        function, conditions = self.plan.operator.function, self._conditions
        nfa = compile_nfa(pattern, hasattr(function, "process_timed_out_match"))
        if conditions is not None:
            nfa.tests = conditions.bound(nfa.tests, pattern.stage_names())
        clock = self.info.clock.now
        return PatternRun(self.plan, nfa, slot, function, self._context, self._emitted, clock, **described)

    def _reset(self) -> None:
        self._waiting = WaitingEvents()
        #: event time: keys whose timers are due
        self._due: dict[Any, None] = {}
        self._emitted.clear()

    # ---------------------------------------------------------------- life cycle

    def functions(self) -> list[Any]:
        tests = [test for run in self._runs for test in run.nfa.tests]
        return [self.plan.operator.function, *{id(test.given): test.given for test in tests}.values()]

    def _open(self, function: Any) -> bool:
        self.call(function.open, StatelessContext(self.plan, self.info, self.states))
        return False

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        super().bind(backend, watermark)
        for run in self._runs:
            run.bind(backend)
        self._reset()

    def write_back(self) -> None:
        for run in self._runs:
            run.write_back()
        for key, events in self._waiting.by_key():
            self.backend.select(key).setdefault(WAITING_EVENTS, []).extend(events)
            self._register(EVENT, min(map(time_of, events)))
        self._reset()

    # ---------------------------------------------------------------- records

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if keys is None:
            keys = [0] * len(values)
        if self._event_time:
            self._wait(keys, values, timestamps)
            return
        now = self.info.clock.now()
        self._load(values)
        if self._comparator is None:
            for key, value in zip(keys, values, strict=True):
                self._pass(key, ((now, value),), now, advances=False)
            self._emit()
            return
        for key, value in zip(keys, values, strict=True):
            self.backend.select(key).setdefault(WAITING_EVENTS, []).append((now, value))
            self._register(PROCESSING, now + 1)

    def _wait(self, keys: list[Any], values: Values, timestamps: Timestamps) -> None:
        """Keep records until the watermark reaches them; those it has passed are late."""
        if not timestamps or min(timestamps) == MIN_TIME:
            record = values[timestamps.index(MIN_TIME)] if timestamps else values[0]
            error = MissingTimestampError("the record has no timestamp, and the pattern orders events by time")
            hint = "call assign_timestamps_and_watermarks(...) before key_by, or in_processing_time()"
            raise operator_error(self.plan, error, record, hint) from error
        watermark = self.current_watermark
        if min(timestamps) <= watermark:
            late = [at for at, time in enumerate(timestamps) if time <= watermark]
            if self._late_tag is None:
                self.info.count(self.plan.id, "numLateRecordsDropped", len(late))
            else:
                late_values, late_times = [values[at] for at in late], [timestamps[at] for at in late]
                self.collector.emit_side(self._late_tag, late_values, late_times)
            rest = [at for at, time in enumerate(timestamps) if time > watermark]
            keys, values = [keys[at] for at in rest], [values[at] for at in rest]
            timestamps = [timestamps[at] for at in rest]
        self._waiting.add(keys, values, timestamps)

    # ---------------------------------------------------------------- time

    def on_event_time(self, time: int, namespace: Any) -> None:
        self._due[self.backend.key] = None

    def on_processing_time(self, time: int, namespace: Any) -> None:
        events = sorted(self.backend.entry.pop(WAITING_EVENTS, ()), key=time_of)
        self._pass(self.backend.key, events, self.info.clock.now(), time)

    def emit_after_timers(self) -> None:
        if self._event_time:
            try:
                self._pass_until(self.current_watermark)
            finally:
                self._due.clear()
                self._emit()  # as in Flink, what comes before a failure
        self._emit()

    def end_of_key(self, watermark: int) -> None:
        super().end_of_key(watermark)
        self.write_back()

    def _pass_until(self, watermark: int) -> dict[Any, Any]:
        """Process the events that a watermark has reached; return the keys that it concerns."""
        due = self._waiting.take(watermark)
        ready: dict[Any, Any] = dict.fromkeys(self._due, ())
        if due is not None:
            self._load(due.events)
            ready |= self._ready(due)
        waited = [key for key in ready if WAITING_EVENTS in self._entry(key)]
        for key in waited:
            ready[key] = self._taken_from_state(key, ready[key], watermark)
        if waited:
            self._load([event for events in ready.values() for _, event in events])
        for key, events in ready.items():
            self._pass(key, events, watermark)
        return ready

    def _ready(self, due: Due) -> dict[Any, Any]:
        """Return events and their times by key; those with which nothing can begin may be left out."""
        ready: dict[Any, Any] = {}
        keys, events, times = due
        started = self._started(events)
        if started is not None:
            (run,) = self._runs
            ready = {key: [] for key in set(keys) if run.has_begun(key) or WAITING_EVENTS in self._entry(key)}
            if not ready and True not in started:
                return ready
        for at, (key, value, time) in enumerate(zip(keys, events, times, strict=True)):
            some = ready.get(key)
            if some is not None:
                some.append((time, value))
            elif started is None or started[at]:
                ready[key] = [(time, value)]
        return ready

    def _started(self, events: Values) -> list[bool] | None:
        """Return at which events the pattern can begin; None if that cannot be said beforehand."""
        if len(self._runs) != 1 or self._runs[0].begins is None or self._comparator is not None:
            return None
        begins = self._runs[0].begins.function
        try:
            return [bool(begins(event)) for event in events]
        except Exception:
            return None  # it fails again when it is the event's turn

    def _entry(self, key: Any) -> dict[Any, Any]:
        entry = self.backend.entries.get(key)
        return self.backend.load(key) if entry is None else entry

    def _taken_from_state(self, key: Any, events: Any, watermark: int) -> list[tuple[int, Any]]:
        """Add the events of a key that waited in its state: they arrived earlier."""
        entry = self.backend.select(key)
        waiting = entry.pop(WAITING_EVENTS)
        later = [each for each in waiting if each[0] > watermark]
        if later:
            entry[WAITING_EVENTS] = later
            self._register(EVENT, min(map(time_of, later)))
        return sorted([*(each for each in waiting if each[0] <= watermark), *events], key=time_of)

    def _load(self, events: Values) -> None:
        if self._conditions is not None:
            self._conditions.load(events)

    # ---------------------------------------------------------------- the automata

    def _pass(self, key: Any, events: Any, now: int, timer: int = MIN_TIME, advances: bool = True) -> None:
        """Process the events of a key that are due, in time order, and advance time to `now` (Flink's `onEventTime`).

        `timer` is the time of a timer that fires; at the end of a BATCH job that is before its time.
        """
        passages: list[_Passage] = []
        for run in self._runs:
            if run.has_begun(key):
                first: int | None = 0
            elif self._comparator is None:
                first = run.first_relevant(events)
            else:
                first = 0 if events else None
            if first is not None:
                passages.append((run, run.running_of(key), first))
        if not passages:
            return
        if events:
            self._process(passages, events if self._comparator is None else list(self._compared(events)))
        domain = EVENT if self._event_time else PROCESSING
        for run, running, _ in passages:
            if advances:
                run.advance(running, now)
            if running.timers:
                time = run.next_timer(running, max(now, timer))
                if time is not None:
                    self.backend.select(key)
                    self._register(domain, time if domain == EVENT else min(time + 1, MAX_TIME))

    def _process(self, passages: list[_Passage], events: Any) -> None:
        if len(passages) == 1:
            ((run, running, first),) = passages
            run.process(running, events[first:] if first else events)
            return
        at = 0
        for _, same_time in groupby(events, key=time_of):
            some = list(same_time)
            for run, running, first in passages:
                if first < at + len(some):
                    run.process(running, some[max(first - at, 0) :])
            at += len(some)

    def _compared(self, events: Any) -> Iterator[tuple[int, Any]]:
        """Sort the events of equal times by the comparator."""
        for time, some in groupby(events, key=time_of):
            try:
                yield from ((time, event) for event in sorted((event for _, event in some), key=self._comparator))
            except Exception as error:
                raise operator_error(self.plan, error, hint="the EventComparator failed") from error

    def _register(self, domain: int, time: int) -> None:
        """Register a timer of the current key, unless an earlier one will see to it."""
        known = self.backend.entry.get(domain)
        if known and not any(run.exact for run in self._runs):
            earliest = min(known)[0]
            if earliest <= time:
                return
            self.backend.delete_timer(domain, earliest, None)
        self.backend.register_timer(domain, time, None)

    def _emit(self) -> None:
        emitted = self._emitted
        if emitted.results:
            results, times = emitted.results, emitted.times if self._event_time else None
            emitted.clear()
            self.collector.emit_tagged(results, times)


def _sort_key(comparator: Any) -> Callable[[Any], Any]:
    """Return the sort key of an EventComparator, or of a function like its `compare`."""
    return cmp_to_key(getattr(comparator, "compare", comparator))
