"""Recognise window joins: conditions on equal windows."""

from __future__ import annotations

from dataclasses import replace

from scurry.errors import ValidationError
from scurry.sql.functions.definition import Session
from scurry.sql.plan.nodes import Join, Plan
from scurry.sql.plan.physical.joins import WindowJoin
from scurry.sql.plan.physical.windows import Window, WindowProperties, window_properties
from scurry.sql.planner.rules.streaming.temporal_joins import join_keys

__all__ = ["window_joins"]


def window_joins(plan: Plan, session: Session) -> Plan:
    """Make window joins of joins of which start and end of the same windows are equal.

    Raises:
        ValidationError: Flink refuses the join.
    """
    plan = plan.with_inputs(tuple(window_joins(each, session) for each in plan.inputs))
    return _window_join(plan) if isinstance(plan, Join) else plan


def _window_join(plan: Join) -> Plan:
    left, right = window_properties(plan.left), window_properties(plan.right)
    if left is None or right is None or _assignment(left) != _assignment(right):
        return plan
    keys, rest = join_keys(plan)
    bounds = {}
    for key in keys:
        column = left.columns.get(key.left)
        if column in ("start", "end") and column == right.columns.get(key.right):
            bounds[column] = key
    if len(bounds) != 2:
        return plan
    others = tuple(key for key in keys if key not in bounds.values())
    start, end = bounds["start"], bounds["end"]
    if not left.window.is_event_time:
        raise ValidationError("Processing time Window Join is not supported yet.")
    bounds_of_left, bounds_of_right = (start.left, end.left), (start.right, end.right)
    return WindowJoin(plan.left, plan.right, plan.kind, others, rest, left.window, bounds_of_left, bounds_of_right)


def _assignment(properties: WindowProperties) -> Window:
    """Return how times belong to windows, whichever column they are of."""
    window = properties.window
    return replace(window, time=window.time.nullable())
