"""Recognise interval joins: conditions that bound the distance of two rows in time."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.errors import ValidationError
from scurry.functions.definition import Session
from scurry.logical_types import DayTimeIntervalType
from scurry.logical_types.families import is_proctime, is_rowtime
from scurry.relational.calls import all_of
from scurry.relational.changelog import Changelogs
from scurry.relational.expressions import Call, Expression, InputReference, Literal
from scurry.relational.join_keys import conjuncts
from scurry.relational.physical.joins import IntervalJoin
from scurry.relational.plan import Join, Plan
from scurry.relational.rules.streaming.regular_joins import regular_joins
from scurry.relational.rules.streaming.temporal_joins import join_keys

__all__ = ["interval_joins"]

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def interval_joins(plan: Plan, session: Session) -> Plan:
    """Make interval joins of joins that bound the difference of two time attributes from both sides.

    Raises:
        ValidationError: Flink refuses the join.
    """
    plan = plan.with_inputs(tuple(interval_joins(each, session) for each in plan.inputs))
    return _interval_join(plan, session) if isinstance(plan, Join) and plan.kind not in ("SEMI", "ANTI") else plan


@dataclass(frozen=True)
class _Bound:
    """A comparison of a left time with a right time plus some milliseconds."""

    left: int
    right: int
    operator: str
    distance: int


def _is_insert_only(plan: Plan, session: Session) -> bool:
    return Changelogs(()).is_insert_only(regular_joins(plan, session))


def _interval_join(plan: Join, session: Session) -> Plan:
    found = {each: _bound(each, plan) for each in conjuncts(plan.condition)}
    bounds = [each for each in found.values() if each is not None]
    lower = [each.distance + (each.operator == ">") for each in bounds if each.operator in (">", ">=", "=")]
    upper = [each.distance - (each.operator == "<") for each in bounds if each.operator in ("<", "<=", "=")]
    if len(lower) != 1 or len(upper) != 1 or len({(each.left, each.right) for each in bounds}) != 1:
        return plan
    if not all(_is_insert_only(each, session) for each in plan.inputs):
        return plan
    left, right = bounds[0].left, bounds[0].right
    types = (*plan.left.schema.types, *plan.right.schema.types)
    event_time = is_rowtime(plan.left.schema[left].type)
    if not event_time and any(map(is_rowtime, types)):
        raise ValidationError(
            "Interval join with proctime attribute requires no event-time attributes are in the join inputs."
        )
    others = all_of([each for each, bound in found.items() if bound is None], Session())
    keys, rest = join_keys(Join(plan.left, plan.right, plan.kind, others))
    return IntervalJoin(plan.left, plan.right, plan.kind, keys, rest, left, right, lower[0], upper[0], event_time)


def _bound(condition: Expression, plan: Join) -> _Bound | None:
    """Return what a condition says about time attributes of both sides, None if it says nothing."""
    if not isinstance(condition, Call) or condition.function not in _FLIPPED:
        return None
    first, second = map(_shifted_time, condition.arguments)
    if first is None or second is None:
        return None
    width = len(plan.left.schema)
    (one, before), (other, after) = first, second
    if one < width <= other:
        return _Bound(one, other - width, condition.function, after - before)
    if other < width <= one:
        return _Bound(other, one - width, _FLIPPED[condition.function], before - after)
    return None


def _shifted_time(expression: Expression) -> tuple[int, int] | None:
    """Return a time attribute and by how many milliseconds an expression is later; None if it is nothing such."""
    if isinstance(expression, InputReference):
        kind = expression.type
        return (expression.index, 0) if is_rowtime(kind) or is_proctime(kind) else None
    if not isinstance(expression, Call) or expression.function not in ("+", "-"):
        return None
    one, other = expression.arguments
    if expression.function == "+" and isinstance(one, Literal):
        one, other = other, one
    if not isinstance(other, Literal) or not isinstance(other.type, DayTimeIntervalType) or other.value is None:
        return None
    found = _shifted_time(one)
    if found is None:
        return None
    return found[0], found[1] + (other.value if expression.function == "+" else -other.value)
