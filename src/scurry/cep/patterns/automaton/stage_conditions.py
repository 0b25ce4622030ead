"""Conditions of transitions: which events a stage takes and ignores, also within a group."""

from __future__ import annotations

from typing import Any

from scurry.cep.patterns.conditions import TRUE, And, Expression, Not, Test
from scurry.cep.patterns.pattern import GroupPattern, Pattern
from scurry.cep.patterns.quantifier import ConsumingStrategy


class ConditionFailedError(Exception):
    """A condition of the user has failed; the error is the cause."""

    def __init__(self, stage: str, event: Any) -> None:
        """Describe a failure."""
        super().__init__(f"a condition of stage {stage!r} failed")
        self.stage = stage
        self.event = event


class StageConditions:
    """The conditions of stages, inside the group that is being compiled.

    Attributes:
        group: The group, None outside of groups.
    """

    def __init__(self) -> None:
        """Begin outside of groups."""
        self.group: GroupPattern | None = None
        #: of groups that are repeated: whether the head that is made is that of their first repetition
        self._first_of_loop: dict[int, bool] = {}

    def set_first_of_loop(self, stage: Pattern, first: bool) -> None:
        """Return whether the first repetition of a stage follows, if that is a group."""
        if isinstance(stage, GroupPattern):
            self._first_of_loop[id(stage)] = first

    def is_head_of_optional_group(self, stage: Pattern) -> bool:
        """Return whether a stage is the first one of the first repetition of an optional group."""
        if not self._is_head_of_group(stage):
            return False
        assert self.group is not None
        return self._is_first_of_loop() and self.group.quantifier.is_optional

    def inner_ignored(self, stage: Pattern) -> Expression | None:
        """Return the condition on events between those of a stage; None if there may be none."""
        strategy = stage.quantifier.inner_consuming_strategy
        if self._is_head_of_group(stage):
            assert self.group is not None
            strategy = self.group.quantifier.inner_consuming_strategy
        return self._before_group_until(_ignored(stage, strategy), False)

    def ignored(self, stage: Pattern) -> Expression | None:
        """Return the condition on events before the first one of a stage; None if there may be none."""
        strategy = stage.quantifier.consuming_strategy
        if self._is_head_of_group(stage):
            assert self.group is not None
            group = self.group.quantifier
            strategy = group.consuming_strategy if self._is_first_of_loop() else group.inner_consuming_strategy
        return self._before_group_until(_ignored(stage, strategy), False)

    def taken(self, stage: Pattern) -> Expression:
        """Return the condition on events that a stage takes."""
        condition = self._before_group_until(stage.condition, True)
        assert condition is not None
        return condition

    def always(self) -> Expression:
        """Return the condition that holds unless the group has ended."""
        condition = self._before_group_until(TRUE, True)
        assert condition is not None
        return condition

    def _is_first_of_loop(self) -> bool:
        return self._first_of_loop.get(id(self.group), True)

    def _is_head_of_group(self, stage: Pattern) -> bool:
        return self.group is not None and stage.previous is None

    def _before_group_until(self, condition: Expression | None, takes: bool) -> Expression | None:
        return condition if self.group is None else before(self.group.until_condition, condition, takes)


def _ignored(stage: Pattern, strategy: ConsumingStrategy) -> Expression | None:
    """Return the condition on events that may lie before an event of a stage; None if none may."""
    if strategy is ConsumingStrategy.SKIP_TILL_NEXT:
        return Not(stage.condition)
    return TRUE if strategy is ConsumingStrategy.SKIP_TILL_ANY else None


def before(until: Test | None, condition: Expression | None, takes: bool) -> Expression | None:
    """Return a condition that holds only while an until condition does not."""
    if until is not None and condition is not None:
        return And(Not(until), condition)
    if until is not None and takes:
        return Not(until)
    return condition
