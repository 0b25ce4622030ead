"""Patterns of events (Flink's CepOperator).

Per key, the entry of the state backend holds the partial matches and the events that the watermark has not reached.
While a micro-batch runs, both are in memory; `settle` moves them to keyed state.

Flink has a timer for each event and one for the end of each window. Here events that arrived in the same micro-batch
need none, and a key has one timer, for the first thing that is due. What a timer of Flink's does (`_pass`) is the same,
and happens at the same watermarks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cmp_to_key
from itertools import groupby
from operator import itemgetter
from typing import Any

from scurry.common.output_tag import OutputTag
from scurry.errors import ArgumentTypeError, MissingTimestampError, StateMismatchError, UnsupportedError
from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.patterns.automaton import NFA, ConditionFailedError, Match, NFAState, compile_nfa
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import RuntimeContext, TaskInfo
from scurry.runtime.keys import original_key
from scurry.runtime.operators.base import KeyedOperator
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.slots import EVENT, PARTIAL_MATCHES, PROCESSING, WAITING_EVENTS

_time = itemgetter(0)


class CepOperator(KeyedOperator):
    """Run `ops.Cep`."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        spec = plan.operator
        assert isinstance(spec, ops.Cep)
        self._event_time = spec.event_time
        self._late_tag = spec.late_tag
        self._comparator = None if spec.comparator is None else _sort_key(spec.comparator)
        self._on_timeout = getattr(spec.function, "process_timed_out_match", None)
        self._on_match = spec.function.process_match
        self._nfa: NFA = compile_nfa(spec.pattern, self._on_timeout is not None)
        self._exact = bool(self._nfa.window_times)
        self._begins = self._nfa.start_test()
        self._context = MatchContext(info.clock.now)
        self._emitted = Emitted(self._context, spec.event_time)
        self._reset()

    def _reset(self) -> None:
        #: the keys whose partial matches this batch has touched
        self._running: dict[Any, _Running] = {}
        #: event time: keys, events and times of the records that the watermark has not reached
        self._waiting: tuple[list[Any], Values, list[int]] = ([], [], [])
        #: event time: keys whose timers are due
        self._due: dict[Any, None] = {}
        self._emitted.clear()

    # ---------------------------------------------------------------- life cycle

    def functions(self) -> list[Any]:
        return [self.plan.operator.function, *{id(test.given): test.given for test in self._nfa.tests}.values()]

    def _open(self, function: Any) -> bool:
        self.call(function.open, _StatelessContext(self.plan, self.info, self.states))
        return False

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        super().bind(backend, watermark)
        self._context.backend = backend
        self._reset()

    def settle(self) -> None:
        backend = self.backend
        for key, running in self._running.items():
            entry = backend.select(key)
            if running.state.is_initial and not running.timers:
                entry.pop(PARTIAL_MATCHES, None)
            else:
                entry[PARTIAL_MATCHES] = (self._nfa.stored(running.state), running.timers)
        waiting: dict[Any, list[tuple[int, Any]]] = {}
        for key, event, time in zip(*self._waiting, strict=True):
            waiting.setdefault(key, []).append((time, event))
        for key, events in waiting.items():
            backend.select(key).setdefault(WAITING_EVENTS, []).extend(events)
            self._register(EVENT, min(map(_time, events)))
        self._reset()

    # ---------------------------------------------------------------- records

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if keys is None:
            keys = [0] * len(values)
        if self._event_time:
            self._wait(keys, values, timestamps)
            return
        now = self.info.clock.now()
        if self._comparator is None:
            for key, value in zip(keys, values, strict=True):
                if self._is_relevant(key, value):
                    running = self._running_of(key)
                    self._process(running, ((now, value),))
                    self._schedule(PROCESSING, running, now)
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
        for waiting, new in zip(self._waiting, (keys, values, timestamps), strict=True):
            waiting += new

    # ---------------------------------------------------------------- time

    def on_event_time(self, time: int, namespace: Any) -> None:
        self._due[self.backend.key] = None

    def on_processing_time(self, time: int, namespace: Any) -> None:
        self._pass(
            self.backend.key, sorted(self.backend.entry.pop(WAITING_EVENTS, ()), key=_time), self.info.clock.now(), time
        )

    def fired(self) -> None:
        if self._event_time:
            watermark = self.current_watermark
            ready: dict[Any, Any] = dict.fromkeys(self._due, ()) | self._taken_from_waiting(watermark)
            self._due.clear()
            try:
                for key, events in ready.items():
                    if WAITING_EVENTS in self._entry(key):
                        events = self._taken_from_state(key, events, watermark)
                    self._pass(key, events, watermark)
            finally:
                self._emit()  # as in Flink, what comes before a failure
        self._emit()

    def end_of_key(self, watermark: int) -> None:
        super().end_of_key(watermark)
        self.settle()

    def _taken_from_waiting(self, watermark: int) -> dict[Any, Any]:
        """Remove the records that the watermark has reached from those in memory.

        Returns:
            Events and their times by key, in time order; those with which nothing can begin may be left out.
        """
        keys, values, times = self._waiting
        if not times or min(times) > watermark:
            return {}
        order = sorted(range(len(times)), key=times.__getitem__)
        first_later = len(times) if max(times) <= watermark else bisect_right(order, watermark, key=times.__getitem__)
        later = sorted(order[first_later:])
        self._waiting = [keys[at] for at in later], [values[at] for at in later], [times[at] for at in later]
        order = order[:first_later]
        keys, values, times = [keys[at] for at in order], [values[at] for at in order], [times[at] for at in order]
        ready: dict[Any, Any] = {}
        started = self._started(values)
        if started is not None:
            running = self._running
            ready = {key: [] for key in set(keys) if key in running or self._has_state(key)}
            if not ready and True not in started:
                return ready
        for at, (key, value, time) in enumerate(zip(keys, values, times, strict=True)):
            events = ready.get(key)
            if events is not None:
                events.append((time, value))
            elif started is None or started[at]:
                ready[key] = [(time, value)]
        return ready

    def _started(self, values: Values) -> list[bool] | None:
        """Return at which events the pattern can begin; None if that cannot be said beforehand."""
        if self._begins is None or self._comparator is not None:
            return None
        begins = self._begins.function
        try:
            return [bool(begins(value)) for value in values]
        except Exception:
            return None  # it fails again when it is the event's turn

    def _has_state(self, key: Any) -> bool:
        entry = self._entry(key)
        return PARTIAL_MATCHES in entry or WAITING_EVENTS in entry

    def _taken_from_state(self, key: Any, events: Any, watermark: int) -> list[tuple[int, Any]]:
        """Add the events of a key that waited in its state: they arrived earlier."""
        entry = self.backend.select(key)
        waiting = entry.pop(WAITING_EVENTS)
        later = [each for each in waiting if each[0] > watermark]
        if later:
            entry[WAITING_EVENTS] = later
            self._register(EVENT, min(map(_time, later)))
        return sorted([*(each for each in waiting if each[0] <= watermark), *events], key=_time)

    # ---------------------------------------------------------------- the automaton

    def _pass(self, key: Any, events: Any, now: int, timer: int = MIN_TIME) -> None:
        """Process the events of a key that are due, in time order, and advance time (Flink's `onEventTime`).

        `timer` is the time of a timer that fires; at the end of a BATCH job that is before its time.
        """
        running = self._running.get(key)
        if running is None and PARTIAL_MATCHES not in self._entry(key):
            events = self._from_first_relevant(events)
            if not events:
                return
        running = self._running_of(key)
        if events:
            self._process(running, events if self._comparator is None else self._compared(events))
        self._advance(running, now)
        if running.timers:
            self._schedule(EVENT if self._event_time else PROCESSING, running, max(now, timer))

    def _from_first_relevant(self, events: Any) -> Any:
        """Leave out the events at which nothing begins, where nothing has begun."""
        test = self._begins
        if test is None or self._comparator is not None:
            return events
        begins, event = test.function, None
        try:
            for at, (_, event) in enumerate(events):
                if begins(event):
                    return events[at:] if at else events
        except Exception as error:
            raise self._condition_failed(error, event, test.stage) from error
        return ()

    def _is_relevant(self, key: Any, event: Any) -> bool:
        return (
            key in self._running
            or PARTIAL_MATCHES in self._entry(key)
            or bool(self._from_first_relevant(((0, event),)))
        )

    def _compared(self, events: Any) -> Iterator[tuple[int, Any]]:
        """Sort the events of equal times by the comparator."""
        for time, some in groupby(events, key=_time):
            try:
                yield from ((time, event) for event in sorted((event for _, event in some), key=self._comparator))
            except Exception as error:
                raise operator_error(self.plan, error, hint="the EventComparator failed") from error

    def _entry(self, key: Any) -> dict[Any, Any]:
        entry = self.backend.entries.get(key)
        return self.backend.load(key) if entry is None else entry

    def _running_of(self, key: Any) -> _Running:
        running = self._running.get(key)
        if running is None:
            kept = self._entry(key).get(PARTIAL_MATCHES)
            running = self._running[key] = self._restored(key, kept)
        running.state.new_start = False
        return running

    def _restored(self, key: Any, kept: Any) -> _Running:
        if kept is None:
            return _Running(key, self._nfa.initial_state(), [])
        try:
            return _Running(key, self._nfa.restored(kept[0]), kept[1])
        except KeyError as error:
            mismatch = StateMismatchError(
                f"there are partial matches in state {error}, which the pattern of {self.plan.name!r} does not have: "
                "it was changed since the state was written"
            )
            raise operator_error(self.plan, mismatch, hint="give the operator another uid to begin anew") from error

    def _advance(self, running: _Running, time: int) -> None:
        try:
            matches, timed_out = self._nfa.advance_time(running.state, time)
        except Exception as error:
            raise operator_error(self.plan, error) from error
        if matches:
            self._matched(running.key, matches, time)
        for match, ended in timed_out:
            self._timed_out(running.key, match, ended)

    def _process(self, running: _Running, events: Iterable[tuple[int, Any]]) -> None:
        """Process events in time order."""
        state, process, window = running.state, self._nfa.process, self._nfa.window_time
        clock, previous, event = self.info.clock.now, None, None
        try:
            for time, event in events:
                if time != previous:
                    self._advance(running, time)
                    previous = time
                matches = process(state, event, time, clock)
                if state.new_start and window > 0:
                    running.timers.append(min(time + window, MAX_TIME))
                if matches:
                    self._matched(running.key, matches, time)
        except ConditionFailedError as failure:
            assert failure.__cause__ is not None
            raise self._condition_failed(failure.__cause__, event, failure.stage) from failure.__cause__
        except Exception as error:
            raise operator_error(self.plan, error, event) from error

    def _condition_failed(self, error: BaseException, event: Any, stage: str) -> Exception:
        return operator_error(
            self.plan, error, event, hint=f"it failed in a condition of stage {stage!r} of the pattern"
        )

    # ---------------------------------------------------------------- timers

    def _schedule(self, domain: int, running: _Running, now: int) -> None:
        """Register the timer for what is due next.

        Flink's timers also show by what else happens when they fire: without a window of the whole pattern, or for a
        match that begins at time 0 or before, nothing ends until some timer of the key fires. So all are kept then.
        """
        timers = running.timers
        if not timers:
            return
        first = running.state.partial[0][0]
        if first > 0 and not self._exact:
            timers[:] = [] if first == MAX_TIME else [min(first + self._nfa.window_time, MAX_TIME)]
        while timers and timers[0] <= now:
            del timers[0]
        if timers:
            self.backend.select(running.key)
            self._register(domain, timers[0] if domain == EVENT else min(timers[0] + 1, MAX_TIME))

    def _register(self, domain: int, time: int) -> None:
        """Register a timer of the current key, unless an earlier one will see to it."""
        known = self.backend.entry.get(domain)
        if known and not self._exact:
            (earliest, _), *_ = known
            if earliest <= time:
                return
            self.backend.delete_timer(domain, earliest, None)
        self.backend.register_timer(domain, time, None)

    # ---------------------------------------------------------------- results

    def _matched(self, key: Any, matches: list[Match], time: int) -> None:
        context, emitted = self._context, self._emitted
        context.key, context.time = key, time
        match: Any = None
        try:
            for match in matches:
                emitted.add(self._on_match(match, context))
        except Exception as error:
            raise operator_error(self.plan, error, match) from error

    def _timed_out(self, key: Any, match: Match, time: int) -> None:
        assert self._on_timeout is not None
        self._context.key, self._context.time = key, time
        try:
            results = list(self._on_timeout(match, self._context) or ())
            if not all(type(each) is tuple and each and isinstance(each[0], OutputTag) for each in results):
                raise ArgumentTypeError("process_timed_out_match emits to side outputs only: yield (output_tag, value)")
            self._emitted.add(results)
        except Exception as error:
            raise operator_error(self.plan, error, match) from error

    def _emit(self) -> None:
        emitted = self._emitted
        if emitted.results:
            results, times = emitted.results, emitted.times if self._event_time else None
            emitted.clear()
            self.collector.emit_tagged(results, times)


class _Running:
    """The partial matches of a key in memory; `timers` are times at which Flink's timers fire, in order."""

    __slots__ = ("key", "state", "timers")

    def __init__(self, key: Any, state: NFAState, timers: list[int]) -> None:
        self.key = key
        self.state = state
        self.timers = timers


class Emitted:
    """What functions have emitted and the operator has not passed on."""

    def __init__(self, context: MatchContext, event_time: bool) -> None:
        self.results: Values = []
        self.times: list[int] = []
        self._context = context
        context.emitted = self

    def add(self, results: Any) -> None:
        """Add what a function has returned."""
        if results is not None:
            for each in results:
                self.results.append(each)  # not extend: a generator may emit to side outputs meanwhile
            self.times += [self._context.time] * (len(self.results) - len(self.times))

    def clear(self) -> None:
        """Begin anew."""
        self.results, self.times = [], []


class MatchContext:
    """Flink's PatternProcessFunction.Context."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self.time = MIN_TIME
        self.key: Any = None
        self.backend: KeyedStateBackend | None = None
        self.emitted: Any = None
        self._clock = clock

    def timestamp(self) -> int:
        """Return the time of the match, in ms."""
        return self.time

    def current_processing_time(self) -> int:
        """Return the processing time, in ms."""
        return self._clock()

    def get_current_key(self) -> Any:
        """Return the key of the match."""
        return original_key(self.key)

    def output(self, output_tag: OutputTag, value: Any) -> None:
        """Emit a value to a side output."""
        self.emitted.add(((output_tag, value),))


class _StatelessContext(RuntimeContext):
    """The runtime context of functions and conditions of patterns, which have no state in Flink either."""

    def get_state(self, state_descriptor: Any) -> Any:
        """Refuse."""
        raise UnsupportedError("State is not supported in functions and conditions of patterns.")

    get_list_state = get_map_state = get_reducing_state = get_aggregating_state = get_state


def _sort_key(comparator: Any) -> Callable[[Any], Any]:
    """Return the sort key of an EventComparator, or of a function like its `compare`."""
    return cmp_to_key(getattr(comparator, "compare", comparator))


__all__ = ["CepOperator", "MatchContext"]
