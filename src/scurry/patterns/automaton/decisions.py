"""Decision trees of states: which conditions decide how a partial match continues.

What an event does depends on nothing but the truth of conditions. Flink walks the transitions of the state for every
partial match and event; here each walk is made once for every outcome of the conditions and remembered as a leaf of a
tree, whose inner nodes are the conditions in the order in which Flink evaluates them. The tree grows when an outcome is
first met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from scurry.errors import PatternMatchError
from scurry.patterns.automaton.states import Action, State, StateType, Transition, stage_of
from scurry.patterns.conditions import And, Expression, Not, Or, Test


@dataclass(frozen=True, slots=True)
class Step:
    """A state that a partial match goes to.

    Attributes:
        stage: The stage that takes the event, None if the event is ignored.
        target: The state.
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
        state: The state it is in.
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
