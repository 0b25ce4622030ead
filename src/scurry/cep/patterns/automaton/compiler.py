"""The compiler of patterns: Flink's `NFACompiler`, method by method, so that states and transitions have its order.

The pattern is traversed from its last stage to its first.
"""

from __future__ import annotations

from scurry.cep.patterns.automaton.nfa import NFA
from scurry.cep.patterns.automaton.stage_conditions import StageConditions, before
from scurry.cep.patterns.automaton.states import Action, State, StateNames, StateType, stage_of
from scurry.cep.patterns.conditions import And, Expression, Not
from scurry.cep.patterns.pattern import GroupPattern, Pattern
from scurry.cep.patterns.quantifier import ConsumingStrategy, QuantifierProperty, Times
from scurry.cep.patterns.skip_strategies import WithinType
from scurry.errors import MalformedPatternError


def compile_nfa(pattern: Pattern, handle_timeouts: bool = True) -> NFA:
    """Return the automaton of a pattern.

    Args:
        handle_timeouts: Whether `advance_time` returns the partial matches that time out.

    Raises:
        MalformedPatternError: Flink refuses the pattern.
    """
    compiler = _Compiler(pattern)
    compiler.compile()
    return NFA(
        compiler.states, compiler.window_times, compiler.window, pattern.after_match_skip_strategy, handle_timeouts
    )


def can_produce_empty_matches(pattern: Pattern) -> bool:
    """Return whether a pattern matches without any event.

    Raises:
        MalformedPatternError: Flink refuses the pattern.
    """
    compiler = _Compiler(pattern)
    compiler.compile()
    waiting = [next(state for state in compiler.states if state.type is StateType.START)]
    visited: set[str] = set()
    while waiting:
        state = waiting.pop()
        if state.name in visited:
            continue
        visited.add(state.name)
        for transition in state.transitions:
            if transition.action is Action.PROCEED and transition.target is not None:
                if transition.target.type is StateType.FINAL:
                    return True
                waiting.append(transition.target)
    return False


class _Compiler:
    """Flink's `NFAFactoryCompiler`."""

    def __init__(self, pattern: Pattern) -> None:
        self.states: list[State] = []
        self.window_times: dict[str, int] = {}
        self._window: int | None = None
        self._names = StateNames()
        self._stops: dict[str, State] = {}
        self._current = pattern
        self._following: Pattern | None = None
        self._conditions = StageConditions()
        self._original_states: dict[str, State] = {}

    @property
    def window(self) -> int:
        """The window of the pattern in ms, 0 if it has none."""
        return self._window or 0

    def compile(self) -> None:
        last = self._current
        check_names(last)
        sink = self._state_named(ENDING_STATE, StateType.FINAL)
        self._window = last.window_size()
        self._convert_pattern(self._middle_states(sink)).type = StateType.START
        self._check_window_times()
        if (
            last.quantifier.consuming_strategy is ConsumingStrategy.NOT_FOLLOW
            and self.window_times.get(last.name, 0) <= 0
            and self.window == 0
        ):
            raise MalformedPatternError(
                "NotFollowedBy is not supported without windowTime as a last part of a Pattern!"
            ).with_hint(
                "call .within(...) on the pattern: the match is complete when the window ends without the event"
            )

    # ---------------------------------------------------------------- checks

    def _check_window_times(self) -> None:
        window = self._window
        if window is not None and any(time > window for time in self.window_times.values()):
            raise MalformedPatternError(
                "The window length between the previous and current event cannot be larger than the window length "
                "between the first and last event for a Pattern."
            )

    # ---------------------------------------------------------------- states

    def _state_named(self, name: str, kind: StateType) -> State:
        state = State(self._names.unique(name), kind)
        self.states.append(state)
        return state

    def _state(self, kind: StateType, takes: bool) -> State:
        """Return a new state of the current stage; `takes` says whether the windows of the stage bound it."""
        current = self._current
        state = self._state_named(current.name, kind)
        if takes:
            times = current.times_bounds
            window = None
            if times is None:
                window = current.window_size(WithinType.PREVIOUS_AND_CURRENT)
            elif ":" in state.name:
                window = times.window
            if window is not None:
                self.window_times[state.name] = window
        return state

    def _stop_state(self, condition: Expression, name: str) -> State:
        """Return the stop state of a NOT stage; all states that it stops lead to the same."""
        state = self._stops.get(name)
        if state is None:
            state = self._stops[name] = self._state_named(name, StateType.STOP)
            state.add(Action.TAKE, state, condition)
        return state

    def _middle_states(self, sink: State) -> State:
        """Convert the current stages but the first, which becomes the current one."""
        while self._current.previous is not None:
            strategy = self._current.quantifier.consuming_strategy
            if strategy is ConsumingStrategy.NOT_FOLLOW:
                sink = self._not_followed_by(sink)
            elif strategy is ConsumingStrategy.NOT_NEXT:
                sink = self._not_next(sink)
            else:
                sink = self._convert_pattern(sink)
            self._following = self._current
            self._current = self._current.previous
            window = self._current.window_size()
            if window is not None and (self._window is None or window < self._window):
                self._window = window
        return sink

    def _not_followed_by(self, sink: State) -> State:
        """Return a pending state, for a last stage; elsewhere such a stage becomes conditions of transitions."""
        windowed = self._current.window_size(WithinType.PREVIOUS_AND_CURRENT) is not None or self.window > 0
        if not windowed or sink.type is not StateType.FINAL:
            return sink
        pending = self._state(StateType.PENDING, True)
        condition = self._conditions.taken(self._current)
        pending.add(Action.PROCEED, self._stop_state(condition, self._current.name), condition)
        pending.add(Action.IGNORE, pending, Not(condition))
        return pending

    def _not_next(self, sink: State) -> State:
        state = self._state(StateType.NORMAL, True)
        condition = self._conditions.taken(self._current)
        stop = self._stop_state(condition, self._current.name)
        # not PROCEED to a final state: it would be taken before there is an event
        action = Action.IGNORE if sink.type is StateType.FINAL else Action.PROCEED
        state.add(action, sink, Not(condition))
        state.add(Action.PROCEED, stop, condition)
        return state

    def _convert_pattern(self, sink: State) -> State:
        quantifier, times = self._current.quantifier, self._current.times_bounds
        if quantifier.has_property(QuantifierProperty.LOOPING):
            assert times is not None
            self._conditions.set_first_of_loop(self._current, False)
            looping = self._looping(self._without_transitive_nots(sink))
            self._conditions.set_first_of_loop(self._current, True)
            last = self._times_state(looping, sink, times)
        elif quantifier.has_property(QuantifierProperty.TIMES):
            assert times is not None
            last = self._times_state(sink, sink, times)
        else:
            last = self._single(sink)
        self._add_stop_states(last)
        return last

    # ---------------------------------------------------------------- copies, and NOT stages before a state

    def _not_conditions(self) -> list[tuple[Expression, str]]:
        """Return the conditions and names of the NOT stages that hold until the current stage takes an event."""
        found = []
        stage = self._current
        while stage.previous is not None and (
            stage.previous.quantifier.is_optional
            or stage.previous.quantifier.consuming_strategy is ConsumingStrategy.NOT_FOLLOW
        ):
            stage = stage.previous
            if stage.quantifier.consuming_strategy is ConsumingStrategy.NOT_FOLLOW:
                found.append((self._conditions.taken(stage), stage.name))
        return found

    def _without_transitive_nots(self, sink: State) -> State:
        """Return a copy without the NOT stages before an optional stage, for when that has taken an event."""
        names = {name for _, name in self._not_conditions()}
        if not names or not self._current.quantifier.is_optional:
            return sink
        copy = self._state_named(sink.name, sink.type)
        for each in sink.transitions:
            target = each.target
            if each.action is Action.PROCEED:
                assert target is not None
                if target.type is not StateType.STOP:
                    target = self._without_transitive_nots(target)
                elif target.name in names:
                    continue
            elif target is each.source:
                target = copy
            copy.add(each.action, target, each.condition)
        return copy

    def _copy(self, state: State) -> State:
        copy = self._state_named(stage_of(state.name), state.type)
        for each in state.transitions:
            copy.add(each.action, copy if each.target is each.source else each.target, each.condition)
        return copy

    def _add_stop_states(self, state: State) -> None:
        for condition, name in self._not_conditions():
            state.add(Action.PROCEED, self._stop_state(condition, name), condition)

    def _add_following_stop_state(self, state: State) -> None:
        following = self._following
        if following is not None and following.quantifier.consuming_strategy is ConsumingStrategy.NOT_FOLLOW:
            condition = self._conditions.taken(following)
            state.add(Action.PROCEED, self._stop_state(condition, following.name), condition)

    # ---------------------------------------------------------------- stages

    def _times_state(self, sink: State, proceed: State, times: Times) -> State:
        current = self._current
        self._conditions.set_first_of_loop(self._current, False)
        until = current.until_condition
        ignore = before(until, self._conditions.inner_ignored(current), False)
        take = before(until, self._conditions.taken(current), True)
        assert take is not None
        if self._is_greedy() and times.from_times != times.to_times:
            if until is not None:
                self._original_states[sink.name] = self._copy(sink)
            _exclude(sink, take)
        last = sink
        for _ in range(times.from_times, times.to_times):
            last = self._single_state(last, proceed, take, ignore, True)
            self._add_following_stop_state(last)
        for _ in range(times.from_times - 1):
            last = self._single_state(last, None, take, ignore, False)
            self._add_following_stop_state(last)
        self._conditions.set_first_of_loop(self._current, True)
        return self._single_state(
            last, proceed, take, self._conditions.ignored(current), current.quantifier.is_optional
        )

    def _single(self, sink: State) -> State:
        current = self._current
        take, ignore = self._conditions.taken(current), self._conditions.ignored(current)
        return self._single_state(sink, sink, take, ignore, current.quantifier.is_optional)

    def _single_state(
        self, sink_state: State, proceed: State | None, take: Expression, ignore: Expression | None, optional: bool
    ) -> State:
        current = self._current
        if isinstance(current, GroupPattern):
            return self._group_state(current, sink_state, proceed, optional)
        state = self._state(StateType.NORMAL, True)
        sink = self._without_transitive_nots(sink_state)
        state.add(Action.TAKE, sink, take)
        if optional:
            assert proceed is not None
            condition = self._conditions.always()
            until = current.until_condition
            if self._is_greedy() and until is not None:
                state.add(Action.PROCEED, self._original_states.get(proceed.name), And(condition, until))
                condition = And(condition, Not(until))
            state.add(Action.PROCEED, proceed, condition)
        if ignore is not None:
            waiting = state
            if optional or self._conditions.is_head_of_optional_group(current):
                waiting = self._state(StateType.NORMAL, False)
                waiting.add(Action.TAKE, sink, take)
                waiting.add(Action.IGNORE, waiting, ignore)
                self._add_stop_states(waiting)
            state.add(Action.IGNORE, waiting, ignore)
        return state

    def _group_state(self, group: GroupPattern, sink: State, proceed: State | None, optional: bool) -> State:
        condition = self._conditions.always()
        first = self._group_body(group, sink)
        if optional:
            first.add(Action.PROCEED, proceed, condition)
        return first

    def _group_loop(self, group: GroupPattern, sink: State) -> State:
        condition = self._conditions.always()
        end = self._state(StateType.NORMAL, True)
        first = self._group_body(group, end)
        first.add(Action.PROCEED, sink, condition)
        end.add(Action.PROCEED, first, condition)
        return first

    def _group_body(self, group: GroupPattern, sink: State) -> State:
        """Convert the stages of a group; return its first state."""
        outside = self._current, self._following, self._conditions.group
        self._conditions.group, self._current = group, group.raw_pattern
        first = self._convert_pattern(self._middle_states(sink))
        self._current, self._following, self._conditions.group = outside
        return first

    def _looping(self, sink: State) -> State:
        current = self._current
        if isinstance(current, GroupPattern):
            return self._group_loop(current, sink)
        until = current.until_condition
        ignore = before(until, self._conditions.inner_ignored(current), False)
        take = before(until, self._conditions.taken(current), True)
        assert take is not None
        condition = self._conditions.always()
        state = self._state(StateType.NORMAL, True)
        if self._is_greedy():
            if until is not None:
                copy = self._copy(sink)
                state.add(Action.PROCEED, copy, And(condition, until))
                self._original_states[sink.name] = copy
                condition = And(condition, Not(until))
            state.add(Action.PROCEED, sink, condition)
            _exclude(sink, self._conditions.taken(current))
        else:
            state.add(Action.PROCEED, sink, condition)
        state.add(Action.TAKE, state, take)
        self._add_following_stop_state(state)
        if ignore is not None:
            waiting = self._state(StateType.NORMAL, False)
            waiting.add(Action.TAKE, state, take)
            waiting.add(Action.IGNORE, waiting, ignore)
            state.add(Action.IGNORE, waiting, ignore)
            self._add_following_stop_state(waiting)
        return state

    def _is_greedy(self) -> bool:
        return self._current.quantifier.has_property(QuantifierProperty.GREEDY)


def _exclude(state: State, condition: Expression) -> None:
    """Let the transitions of a state pass no event that fulfils a condition."""
    for transition in state.transitions:
        transition.condition = And(transition.condition, Not(condition))


ENDING_STATE = "$endState$"


def check_names(pattern: Pattern) -> None:
    """Check the names of stages, and that there is the one to which the after-match strategy skips.

    Raises:
        MalformedPatternError: Two stages have the same name, or none has that of the strategy.
    """
    names = StateNames()
    names.check_unique(ENDING_STATE)
    for stage in _stages(pattern):
        _check_names_of(stage, names)
    wanted = pattern.after_match_skip_strategy.pattern_name
    if wanted is not None and all(stage.name != wanted for stage in _stages(pattern)):
        raise MalformedPatternError(
            "The pattern name specified in AfterMatchSkipStrategy can not be found in the given Pattern"
        )


def _check_names_of(stage: Pattern, names: StateNames) -> None:
    if isinstance(stage, GroupPattern):
        for each in _stages(stage.raw_pattern):
            _check_names_of(each, names)
    else:
        names.check_unique(stage.name)


def _stages(pattern: Pattern) -> list[Pattern]:
    """Return the stages of a pattern, the last one first."""
    stages = []
    stage: Pattern | None = pattern
    while stage is not None:
        stages.append(stage)
        stage = stage.previous
    return stages
