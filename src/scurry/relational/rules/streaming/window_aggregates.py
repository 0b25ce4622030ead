"""Aggregates by start and end of a window."""

from __future__ import annotations

from scurry.functions.definition import Session
from scurry.relational import builders
from scurry.relational.physical.windows import WindowAggregate, window_properties
from scurry.relational.plan import Aggregate, Plan

__all__ = ["window_aggregates"]


def window_aggregates(plan: Plan, session: Session) -> Plan:
    """Make window aggregates of the aggregates that group by start and end of a window."""
    plan = plan.with_inputs(tuple(window_aggregates(each, session) for each in plan.inputs))
    return _window_aggregate(plan) if isinstance(plan, Aggregate) and plan.is_simple else plan


def _window_aggregate(plan: Aggregate) -> Plan:
    properties = window_properties(plan.input)
    if properties is None or properties.window.kind == "SESSION" or not properties.is_grouped_by(plan.keys):
        return plan
    of_window = tuple((key, properties.columns[key]) for key in plan.keys if key in properties.columns)
    keys = tuple(key for key in plan.keys if key not in properties.columns)
    end = next(key for key, name in of_window if name == "end")
    changed = WindowAggregate(plan.input, properties.window, end, keys, plan.calls, plan.names, of_window)
    places = [*keys, *(key for key, _ in of_window)]
    order = [*(places.index(key) for key in plan.keys), *range(len(places), len(plan.schema))]
    return builders.project(changed, [builders.column(changed, place) for place in order], plan.schema.names)
