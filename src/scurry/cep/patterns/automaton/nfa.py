"""The automaton: Flink's `NFA`, driven by events and time, for one key at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from scurry.cep.patterns.automaton.stage_conditions import ConditionFailedError
from scurry.cep.patterns.automaton.state import (
    LATEST,
    Computation,
    NFAState,
    Node,
    StoredState,
    heapify,
    offer,
    path,
    poll,
    restored,
    stored,
)
from scurry.cep.patterns.automaton.states import Decision, Leaf, State, StateType, Tree, decision, grow
from scurry.cep.patterns.conditions import And, Expression, Not, Or, Test
from scurry.cep.patterns.skip_strategies import AfterMatchSkipStrategy, EventId

#: The events of a match by stage; stages are in the order of their first events.
Match: TypeAlias = dict[str, list[Any]]


class TimedOut(NamedTuple):
    """A partial match that timed out, and when."""

    match: Match
    timestamp: int


class NFA:
    """The automaton of a pattern; made by `compile_nfa`.

    Attributes:
        window_time: The window of the pattern in ms, 0 if it has none.
        window_times: Windows of single states in ms, by state.
        tests: The conditions of the pattern.
    """

    def __init__(
        self,
        states: Sequence[State],
        window_times: dict[str, int],
        window_time: int,
        skip_strategy: AfterMatchSkipStrategy,
        handle_timeouts: bool,
    ) -> None:
        """Make an automaton; `compile_nfa` does."""
        self.window_time = window_time
        self.window_times = window_times
        self._states = {state.name: state for state in states}
        self._skip = skip_strategy
        self._handle_timeouts = handle_timeouts
        start = next(state for state in states if state.type is StateType.START)
        self._start: Computation = (*LATEST, start, None, -1)
        self.tests = list(_tests(states))
        self._numbers = {id(test): number for number, test in enumerate(self.tests)}
        self._unknown: list[bool | None] = [None] * len(self.tests)

    def initial_state(self) -> NFAState:
        """Return the state of a key without events."""
        return NFAState([self._start], [], (0, 0))

    def stored(self, state: NFAState) -> StoredState:
        """Return the form of a state in which it is kept: plain tuples and lists."""
        return stored(state)

    def restored(self, kept: StoredState) -> NFAState:
        """Return the state that was kept.

        Raises:
            KeyError: It refers to a state that the automaton does not have.
        """
        return restored(kept, self._states, self._start)

    def start_test(self) -> Test | None:
        """Return a test of one event without which no match begins, or None."""
        tree = self._tree(self._start[2])
        if isinstance(tree, Leaf):
            return None
        test = self.tests[tree.condition]
        without = tree.children[False] or grow(tree, False, self._numbers)
        nothing = isinstance(without, Leaf) and without.unchanged
        return test if nothing and not test.iterative else None

    # ---------------------------------------------------------------- time

    def advance_time(self, state: NFAState, timestamp: int) -> tuple[list[Match], list[TimedOut]]:
        """Advance time to the time of the next event, or to the watermark.

        Args:
            state: The state of the key, which is changed.
            timestamp: The time, in ms.

        Returns:
            The matches that were waiting for it, and the partial matches that time out.

        Raises:
            PatternMatchError: There is no event to skip to.
        """
        if not self.window_times:
            earliest = state.partial[0] if state.partial else self._start
            if self.window_time <= 0 or 0 <= timestamp - earliest[0] < self.window_time or earliest[3] is None:
                return [], []
        return self._time_out(state, timestamp)

    def _time_out(self, state: NFAState, timestamp: int) -> tuple[list[Match], list[TimedOut]]:
        timed_out: list[TimedOut] = []
        remaining: list[Computation] = []
        pending: list[Computation] = []
        for each in state.partial:
            ends = self._timeout_of(each, timestamp)
            if ends is None:
                offer(remaining, each)
            elif each[2].type is StateType.PENDING:
                offer(pending, each)
            elif self._handle_timeouts:
                timed_out.append(TimedOut(_events(path(each[3])), ends))
        return self._settle(state, pending, remaining), timed_out

    def _timeout_of(self, computation: Computation, timestamp: int) -> int | None:
        """Return when a partial match has timed out, None if it has not."""
        first, _, state, node, previous = computation
        if node is None:
            return None
        window = self.window_times.get(state.name, 0)
        if window > 0 and _elapsed(previous, timestamp) >= window:
            return previous + window
        if self.window_time > 0 and _elapsed(first, timestamp) >= self.window_time:
            return first + self.window_time
        return None

    # ---------------------------------------------------------------- events

    def process(
        self, state: NFAState, event: Any, timestamp: int, clock: Callable[[], int] | None = None
    ) -> list[Match]:
        """Process an event; `advance_time` to its time comes first.

        Args:
            state: The state of the key, which is changed.
            timestamp: Its time, in ms; not before those of earlier events.
            clock: Returns the processing time, for conditions that ask for it.

        Returns:
            The matches that are complete now.

        Raises:
            ConditionFailedError: A condition failed.
            PatternMatchError: There is no event to skip to, or the pattern would not end.
        """
        partial = state.partial
        leaves = self._leaves(partial, event, timestamp, clock)
        if leaves is None:
            return []
        remaining: list[Computation] = []
        potential: list[Computation] = []
        event_number = -1
        for each, leaf in zip(partial, leaves, strict=True):
            if leaf.unchanged:
                offer(remaining, each)
                continue
            first, number, _, node, previous = each
            retained: list[Computation] = []
            stopped = False
            for step in leaf.steps:
                target = step.target
                if step.stage is None:
                    new: Computation = (first, number, target, node, previous)
                else:
                    if event_number < 0:
                        event_number = state.counted[1] if state.counted[0] == timestamp else 0
                        state.counted = (timestamp, event_number + 1)
                    if node is None:
                        first, number = timestamp, event_number
                        if timestamp > 0:
                            state.new_start = True
                    taken: Node = (node, step.stage, timestamp, event_number, event)
                    new = (first, number, target, taken, timestamp)
                if target.type is StateType.FINAL:
                    offer(potential, new)
                elif target.type is StateType.STOP:
                    stopped = True
                else:
                    retained.append(new)
                if step.final is not None:
                    offer(potential, (first, number, step.final, new[3], timestamp))
            if not stopped:
                for new in retained:
                    offer(remaining, new)
                if node is None:
                    offer(remaining, each)
        if potential or state.completed:
            return self._settle(state, potential, remaining)
        state.partial = remaining
        return []

    def _leaves(
        self, partial: list[Computation], event: Any, timestamp: int, clock: Callable[[], int] | None
    ) -> list[Leaf] | None:
        """Return the outcome for each partial match; None if all stay as they are."""
        truths, tests, changed = self._unknown.copy(), self.tests, False
        leaves: list[Leaf] = []
        for computation in partial:
            tree = computation[2].tree or self._tree(computation[2])
            context: _Context | None = None
            while type(tree) is Decision:
                condition = tree.condition
                holds = truths[condition]
                if holds is None:
                    test = tests[condition]
                    try:
                        if test.iterative:
                            context = context or _Context(computation[3], timestamp, clock)
                            holds = bool(test.function(event, context))
                        else:
                            holds = truths[condition] = bool(test.function(event))
                    except Exception as error:
                        raise ConditionFailedError(test.stage, event) from error
                tree = tree.children[holds] or grow(tree, holds, self._numbers)
            assert isinstance(tree, Leaf)
            leaves.append(tree)
            if not tree.unchanged:
                changed = True
        return leaves if changed else None

    def _tree(self, state: State) -> Tree:
        tree: Tree | None = state.tree
        if tree is None:
            tree = state.tree = decision(state, self._numbers)
        return tree

    # ---------------------------------------------------------------- complete matches

    def _settle(self, state: NFAState, potential: list[Computation], remaining: list[Computation]) -> list[Match]:
        """Set the partial matches; return the complete ones that may be emitted (by the skip strategy)."""
        state.partial = remaining
        completed = state.completed
        if not potential and not completed:
            return []
        for each in potential:
            offer(completed, each)
        skip, matches = self._skip, []
        while completed:
            if skip.skips and remaining and completed[0][:2] > remaining[0][:2]:
                break
            nodes = path(poll(completed)[3])
            if skip.skips:
                pruning = skip.pruning_id(_ids(nodes))
                if pruning is not None:
                    _prune(skip, remaining, pruning)
                    _prune(skip, completed, pruning)
            matches.append(_events(nodes))
        return matches


class _Context:
    """The `ConditionContext` of a partial match."""

    __slots__ = ("_clock", "_events", "_node", "_timestamp")

    def __init__(self, node: Node | None, timestamp: int, clock: Callable[[], int] | None) -> None:
        self._node = node
        self._timestamp = timestamp
        self._clock = clock
        self._events: Match | None = None

    def get_events_for_pattern(self, name: str) -> list[Any]:
        """Return the events that the partial match has of a stage, in order."""
        if self._events is None:
            self._events = _events(path(self._node))
        return self._events.get(name, [])

    def timestamp(self) -> int:
        """Return the time of the event, in ms."""
        return self._timestamp

    def current_processing_time(self) -> int:
        """Return the processing time, in ms."""
        return 0 if self._clock is None else self._clock()


def _elapsed(since: int, now: int) -> int:
    """Return an amount of time as a `long`: from a negative time to the end of time, it overflows as in Flink."""
    elapsed = now - since
    return elapsed if elapsed <= LATEST[0] else elapsed - (1 << 64)


def _events(nodes: list[Node]) -> Match:
    match: Match = {}
    for _, stage, _, _, event in nodes:
        if stage in match:
            match[stage].append(event)
        else:
            match[stage] = [event]
    return match


def _ids(nodes: list[Node]) -> dict[str, list[EventId]]:
    ids: dict[str, list[EventId]] = {}
    for _, stage, time, number, _ in nodes:
        ids.setdefault(stage, []).append((time, number))
    return ids


def _prune(skip: AfterMatchSkipStrategy, queue: list[Computation], pruning: EventId) -> None:
    """Remove partial matches that begin too early, as `PriorityQueue.removeAll` does."""
    kept = [each for each in queue if each[3] is None or not skip.should_prune(each[:2], pruning)]
    if len(kept) < len(queue):
        queue[:] = kept
        heapify(queue)


def _tests(states: Sequence[State]) -> Iterator[Test]:
    """Yield the tests of all transitions, each once."""
    found: set[int] = set()
    waiting: list[Expression] = [
        transition.condition for state in reversed(states) for transition in reversed(state.transitions)
    ]
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, Test):
            if id(expression) not in found:
                found.add(id(expression))
                yield expression
        elif isinstance(expression, Not):
            waiting.append(expression.operand)
        elif isinstance(expression, And | Or):
            waiting += (expression.right, expression.left)
