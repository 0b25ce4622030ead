"""The automaton of a pattern on the keys that a micro-batch touches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scurry.cep.patterns.automaton import NFA, ConditionFailedError, Match, NFAState
from scurry.common.output_tag import OutputTag
from scurry.errors import ArgumentTypeError, StateMismatchError, UnsupportedError
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Values
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import RuntimeContext
from scurry.runtime.keys import original_key
from scurry.runtime.state.backend import KeyedStateBackend


class Emitted:
    """Results that functions have emitted and the operator has not forwarded yet."""

    def __init__(self, context: MatchContext, collector: Collector) -> None:
        self.results: Values = []
        self._collector = collector
        self.times: list[int] = []
        self._context = context
        context.emitted = self

    def add(self, results: Any) -> None:
        if results is not None:
            uncopied, copy = self._collector.handing_over()
            for each in results:  # a generator may emit to side outputs meanwhile
                self.results.append(each if type(each) is uncopied else copy(each))
            self.times += [self._context.time] * (len(self.results) - len(self.times))

    def clear(self) -> None:
        self.results, self.times = [], []


class MatchContext:
    """Flink's PatternProcessFunction.Context."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self.time = MIN_TIME
        self.key: Any = None
        self.emitted: Any = None
        self._clock = clock

    def timestamp(self) -> int:
        """Return the time of the match, in ms."""
        return self.time

    def current_processing_time(self) -> int:
        """Return the processing time, in ms."""
        return self._clock()

    def get_current_key(self) -> Any:
        return original_key(self.key)

    def output(self, output_tag: OutputTag, value: Any) -> None:
        """Emit a value to a side output."""
        self.emitted.add(((output_tag, value),))


class StatelessContext(RuntimeContext):
    """The runtime context of functions and conditions of patterns, which have no state in Flink either."""

    def get_state(self, state_descriptor: Any) -> Any:
        """Refuse."""
        raise UnsupportedError("State is not supported in functions and conditions of patterns.")

    get_list_state = get_map_state = get_reducing_state = get_aggregating_state = get_state


class PartialMatches:
    """The partial matches of a key in memory; `timers` are times at which Flink's timers fire, in order."""

    __slots__ = ("key", "state", "timers")

    def __init__(self, key: Any, state: NFAState, timers: list[int]) -> None:
        self.key = key
        self.state = state
        self.timers = timers


class PatternRun:
    """Find the matches of a pattern.

    Args:
        nfa: The automaton.
        slot: Where the partial matches of a key are kept.
        function: The process function.
        context: What it sees of a match.
        emitted: What it emits.
        clock: Returns the processing time.
        wrapped: Makes a match what the function gets.
        name: Which pattern it is, for errors.
    """

    def __init__(
        self,
        plan: OperatorPlan,
        nfa: NFA,
        slot: Any,
        function: Any,
        context: MatchContext,
        emitted: Emitted,
        clock: Callable[[], int],
        wrapped: Callable[[Match], Any] | None = None,
        name: str = "the pattern",
    ) -> None:
        self.nfa = nfa
        self.slot = slot
        #: whether all timers of Flink's are needed, because they show by what else happens when they fire
        self.exact = bool(nfa.window_times)
        #: without which nothing begins
        self.begins = nfa.start_test()
        self._plan = plan
        self._on_match = function.process_match
        self._on_timeout = getattr(function, "process_timed_out_match", None)
        self._context = context
        self._emitted = emitted
        self._clock = clock
        self._wrapped = wrapped
        self._name = name
        self._running: dict[Any, PartialMatches] = {}
        self.backend: KeyedStateBackend | None = None

    # ---------------------------------------------------------------- keys

    def bind(self, backend: KeyedStateBackend) -> None:
        """Use this backend from now on, for a micro-batch that begins."""
        self.backend = backend
        self._running = {}

    def write_back(self) -> None:
        """Move the partial matches to keyed state."""
        backend, slot = self.backend, self.slot
        assert backend is not None
        for key, running in self._running.items():
            entry = backend.select(key)
            if running.state.is_initial and not running.timers:
                entry.pop(slot, None)
            else:
                entry[slot] = (self.nfa.stored(running.state), running.timers)
        self._running = {}

    def has_begun(self, key: Any) -> bool:
        """Return whether there are partial matches of a key."""
        if key in self._running:
            return True
        backend = self.backend
        assert backend is not None
        entry = backend.entries.get(key)
        return self.slot in (backend.load(key) if entry is None else entry)

    def running_of(self, key: Any) -> PartialMatches:
        running = self._running.get(key)
        if running is None:
            backend = self.backend
            assert backend is not None
            entry = backend.entries.get(key)
            kept = (backend.load(key) if entry is None else entry).get(self.slot)
            running = self._running[key] = self._restored(key, kept)
        running.state.new_start = False
        return running

    def _restored(self, key: Any, kept: Any) -> PartialMatches:
        if kept is None:
            return PartialMatches(key, self.nfa.initial_state(), [])
        try:
            return PartialMatches(key, self.nfa.restored(kept[0]), kept[1])
        except KeyError as error:
            mismatch = StateMismatchError(
                f"there are partial matches in state {error}, which the pattern of {self._plan.name!r} does not have: "
                "it was changed since the state was written"
            )
            raise operator_error(self._plan, mismatch, hint="give the operator another uid to begin anew") from error

    # ---------------------------------------------------------------- events and time

    def first_relevant(self, events: Any) -> int | None:
        """Return where a match can begin, for a key without partial matches; None if that is nowhere."""
        test = self.begins
        if test is None:
            return 0 if events else None
        begins, event = test.function, None
        try:
            for at, (_, event) in enumerate(events):
                if begins(event):
                    return at
        except Exception as error:
            raise self._condition_failed(error, event, test.stage) from error
        return None

    def process(self, running: PartialMatches, events: Iterable[tuple[int, Any]]) -> None:
        """Process events in time order."""
        state, process, window = running.state, self.nfa.process, self.nfa.window_time
        clock, previous, event = self._clock, None, None
        try:
            for time, event in events:
                if time != previous:
                    self.advance(running, time)
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
            raise operator_error(self._plan, error, event) from error

    def advance(self, running: PartialMatches, time: int) -> None:
        """Advance time to that of an event, or to the watermark."""
        try:
            matches, timed_out = self.nfa.advance_time(running.state, time)
        except Exception as error:
            raise operator_error(self._plan, error) from error
        if matches:
            self._matched(running.key, matches, time)
        for match, ended in timed_out:
            self._timed_out(running.key, match, ended)

    def next_timer(self, running: PartialMatches, now: int) -> int | None:
        """Return the time of the next timer, None without one.

        Flink's timers also show by what else happens when they fire: without a window of the whole pattern, or for a
        match that begins at time 0 or before, nothing ends until some timer of the key fires. So all are kept then.
        """
        timers = running.timers
        if not timers:
            return None
        first = running.state.partial[0][0]
        if first > 0 and not self.exact:
            timers[:] = [] if first == MAX_TIME else [min(first + self.nfa.window_time, MAX_TIME)]
        while timers and timers[0] <= now:
            del timers[0]
        return timers[0] if timers else None

    def _condition_failed(self, error: BaseException, event: Any, stage: str) -> Exception:
        return operator_error(
            self._plan, error, event, hint=f"it failed in a condition of stage {stage!r} of {self._name}"
        )

    # ---------------------------------------------------------------- results

    def _matched(self, key: Any, matches: list[Match], time: int) -> None:
        context, emitted, wrapped = self._context, self._emitted, self._wrapped
        context.key, context.time = key, time
        match: Any = None
        try:
            for match in matches:
                emitted.add(self._on_match(match if wrapped is None else wrapped(match), context))
        except Exception as error:
            raise operator_error(self._plan, error, match) from error

    def _timed_out(self, key: Any, match: Match, time: int) -> None:
        assert self._on_timeout is not None
        self._context.key, self._context.time = key, time
        given = match if self._wrapped is None else self._wrapped(match)
        try:
            results = list(self._on_timeout(given, self._context) or ())
            if not all(type(each) is tuple and each and isinstance(each[0], OutputTag) for each in results):
                raise ArgumentTypeError("process_timed_out_match emits to side outputs only: yield (output_tag, value)")
            self._emitted.add(results)
        except Exception as error:
            raise operator_error(self._plan, error, match) from error
