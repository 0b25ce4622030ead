"""Recognise interval joins: conditions that bound the distance of two rows in time."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.functions.definition import Session
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Join, Plan
from scurry.sql.plan.physical.joins import IntervalJoin
from scurry.sql.planner.rules.streaming.temporal_joins import join_keys
from scurry.sql.planner.rules.time_attributes import time_bounds
from scurry.sql.types.families import is_rowtime

__all__ = ["interval_joins"]


def interval_joins(plan: Plan, session: Session) -> Plan:
    """Make interval joins of joins that bound the difference of two time attributes from both sides.

    Raises:
        ValidationError: Flink refuses the join.
    """
    plan = plan.with_inputs(tuple(interval_joins(each, session) for each in plan.inputs))
    return _interval_join(plan) if isinstance(plan, Join) and plan.kind not in ("SEMI", "ANTI") else plan


def _interval_join(plan: Join) -> Plan:
    found = time_bounds(plan)
    bounds = list(found.values())
    lower = [each.distance + (each.operator == ">") for each in bounds if each.operator in (">", ">=", "=")]
    upper = [each.distance - (each.operator == "<") for each in bounds if each.operator in ("<", "<=", "=")]
    if len(lower) != 1 or len(upper) != 1 or len({(each.left, each.right) for each in bounds}) != 1:
        return plan
    left, right = bounds[0].left, bounds[0].right
    types = (*plan.left.schema.types, *plan.right.schema.types)
    event_time = is_rowtime(plan.left.schema[left].type)
    if not event_time and any(map(is_rowtime, types)):
        raise ValidationError(
            "Interval join with proctime attribute requires no event-time attributes are in the join inputs."
        )
    others = all_of([each for each in conjuncts(plan.condition) if each not in found], Session())
    keys, rest = join_keys(Join(plan.left, plan.right, plan.kind, others))
    return IntervalJoin(plan.left, plan.right, plan.kind, keys, rest, left, right, lower[0], upper[0], event_time)
