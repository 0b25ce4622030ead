"""Translate regular joins, which keep all rows of both sides."""

from __future__ import annotations

from scurry.sql.functions.definition import Session
from scurry.sql.plan.nodes import Join, Plan
from scurry.sql.plan.physical.joins import RegularJoin
from scurry.sql.planner.rules.streaming.temporal_joins import join_keys
from scurry.sql.planner.unique_keys import upsert_keys

__all__ = ["regular_joins"]


def regular_joins(plan: Plan, session: Session) -> Plan:
    """Make physical joins of the joins that no other rule has recognised."""
    plan = plan.with_inputs(tuple(regular_joins(each, session) for each in plan.inputs))
    return _regular_join(plan) if isinstance(plan, Join) else plan


def _regular_join(plan: Join) -> Plan:
    keys, rest = join_keys(plan)
    left, right = _unique(plan.left, [key.left for key in keys]), _unique(plan.right, [key.right for key in keys])
    return RegularJoin(plan.left, plan.right, plan.kind, keys, rest, left, right, plan.state_ttl)


def _unique(plan: Plan, keys: list[int]) -> tuple[int, ...] | None:
    """Return the columns that identify a row among those with the same join key; None if there are none."""
    found = upsert_keys(plan)
    if not found:
        return None
    if any(key.issubset(keys) for key in found):
        return ()
    return min((tuple(sorted(key)) for key in found), key=lambda key: (len(key), key))
