"""States and transitions of an automaton, and the decision trees of their conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum, auto
from typing import Any, TypeAlias

from scurry._dataclasses import dataclass
from scurry.cep.patterns.conditions import And, Expression, Not, Or, Test
from scurry.errors import MalformedPatternError, PatternMatchError

_DELIMITER = ":"


class StateType(Enum):
    """The kind of a state."""

    START = auto()
    NORMAL = auto()
    #: waits for the end of the window, to emit a match that no event of a last NOT stage has stopped
    PENDING = auto()
    #: an event of a NOT stage has stopped the partial match
    STOP = auto()
    FINAL = auto()


class Action(Enum):
    """The action of a transition on an event."""

    TAKE = auto()
    IGNORE = auto()
    #: the event is offered to the target
    PROCEED = auto()


@dataclass(eq=False)
class Transition:
    """A transition; `target` is None where Flink's compiler has none."""

    source: State
    action: Action
    target: State | None
    condition: Expression


@dataclass(eq=False, slots=True)
class State:
    """A state; its name is unique in its automaton.

    Attributes:
        tree: What becomes of a partial match in it, as a tree of decisions, once that is known.
    """

    name: str
    type: StateType
    transitions: list[Transition] = field(default_factory=list)
    tree: Any = field(default=None, repr=False)

    def add(self, action: Action, target: State | None, condition: Expression) -> None:
        self.transitions.append(Transition(self, action, target, condition))


class StateNames:
    def __init__(self) -> None:
        self._used: set[str] = set()

    def check_unique(self, name: str) -> None:
        """Note the name of a stage.

        Raises:
            MalformedPatternError: Another stage has it.
        """
        if name in self._used:
            raise MalformedPatternError(f"Duplicate pattern name: {name}. Names must be unique.")
        self._used.add(name)

    def unique(self, base: str) -> str:
        """Return a name for another state of a stage."""
        candidate, counter = base, 0
        while candidate in self._used:
            candidate = f"{base}{_DELIMITER}{counter}"
            counter += 1
        self._used.add(candidate)
        return candidate


def stage_of(state_name: str) -> str:
    return state_name.split(_DELIMITER)[0]


@dataclass(frozen=True, slots=True)
class Step:
    """A state that a partial match goes to.

    Attributes:
        stage: The stage that takes the event, None if the event is ignored.
        final: The final state that is reached at once, or None.
    """

    stage: str | None
    target: State
    final: State | None = None


@dataclass(slots=True)
class Leaf:
    """The outcome for a partial match.

    Attributes:
        steps: Where it goes, in order.
        unchanged: Whether it stays as it is.
    """

    steps: Sequence[Step]
    unchanged: bool


@dataclass(slots=True)
class Decision:
    """A condition, by its number, and the decision after FALSE and TRUE; None if that was not met yet."""

    condition: int
    state: State
    known: dict[int, bool] = field(repr=False)
    children: list[Decision | Leaf | None] = field(default_factory=lambda: [None, None])


Tree: TypeAlias = Decision | Leaf


class _Needed(Exception):  # noqa: N818 (no error: it interrupts a walk)
    def __init__(self, condition: int) -> None:
        self.condition = condition


def decision(state: State, numbers: dict[int, int], known: dict[int, bool] | None = None) -> Tree:
    """Return the outcome for a partial match.

    Args:
        numbers: The numbers of the tests, by `id`.
        known: Which conditions hold, as far as that has been found out.

    Raises:
        PatternMatchError: Flink would not end, or fail.
    """
    known = known or {}
    try:
        return _leaf(state, numbers, known)
    except _Needed as needed:
        return Decision(needed.condition, state, known)


def grow(node: Decision, holds: bool, numbers: dict[int, int]) -> Tree:
    """Return the tree that follows a condition, and remember it."""
    child = node.children[holds] = decision(node.state, numbers, {**node.known, node.condition: holds})
    return child


def _leaf(state: State, numbers: dict[int, int], known: dict[int, bool]) -> Leaf:
    steps = []
    for edge in _edges(state, numbers, known):
        target = _target(edge)
        if edge.action is Action.TAKE:
            steps.append(Step(stage_of(edge.source.name), target, _final_after(target, numbers, known)))
        elif state.type is not StateType.START:
            steps.append(Step(None, target))
    if state.type is StateType.START:
        if any(step.target.type is StateType.STOP for step in steps):
            raise PatternMatchError(
                "a NOT stage ends the pattern before its first event, where Flink fails, too; "
                "begin the pattern with a stage that is not optional"
            )
        return Leaf(steps, not steps)
    stays = len(steps) == 1 and steps[0].stage is None and steps[0].target is state
    return Leaf(steps, stays)


def _edges(state: State, numbers: dict[int, int], known: dict[int, bool]) -> list[Transition]:
    """Return the transitions that an event takes, those behind PROCEED included (`createDecisionGraph`)."""
    edges = []
    waiting: list[tuple[State, tuple[State, ...]]] = [(state, ())]
    while waiting:
        current, above = waiting.pop()
        _check_progress(current, above)
        for transition in current.transitions:
            if _holds(transition.condition, numbers, known):
                if transition.action is Action.PROCEED:
                    waiting.append((_target(transition), (*above, current)))
                else:
                    edges.append(transition)
    return edges


def _final_after(state: State, numbers: dict[int, int], known: dict[int, bool]) -> State | None:
    """Return the final state that can be reached without an event (`findFinalStateAfterProceed`)."""
    waiting: list[tuple[State, tuple[State, ...]]] = [(state, ())]
    while waiting:
        current, above = waiting.pop()
        _check_progress(current, above)
        for transition in current.transitions:
            if transition.action is Action.PROCEED and _holds(transition.condition, numbers, known):
                target = _target(transition)
                if target.type is StateType.FINAL:
                    return target
                waiting.append((target, (*above, current)))
    return None


def _check_progress(state: State, above: tuple[State, ...]) -> None:
    if state in above:
        raise PatternMatchError(
            f"a loop around stage {stage_of(state.name)!r} can match without an event, so that it would not end (nor "
            "does it in Flink); let a stage of the group not be optional"
        )


def _target(transition: Transition) -> State:
    if transition.target is None:
        raise PatternMatchError(
            f"greedy stage {stage_of(transition.source.name)!r} with until cannot be left out here, where Flink fails "
            "with an error"
        )
    return transition.target


def _holds(expression: Expression, numbers: dict[int, int], known: dict[int, bool]) -> bool:
    if isinstance(expression, Test):
        number = numbers[id(expression)]
        if number not in known:
            raise _Needed(number)
        return known[number]
    if isinstance(expression, Not):
        return not _holds(expression.operand, numbers, known)
    if isinstance(expression, And):
        return _holds(expression.left, numbers, known) and _holds(expression.right, numbers, known)
    if isinstance(expression, Or):
        return _holds(expression.left, numbers, known) or _holds(expression.right, numbers, known)
    return True
