"""Aggregates over windows of rows."""

from __future__ import annotations

from dataclasses import replace

from scurry.functions.definition import Session
from scurry.relational.physical.over import NonTimeOverAggregate, OverAggregate
from scurry.relational.plan import Over, Plan
from scurry.relational.windows import streaming_frame

__all__ = ["over_aggregates"]


def over_aggregates(plan: Plan, session: Session) -> Plan:
    """Make OVER aggregations of the windows of rows that no other rule has recognised."""
    plan = plan.with_inputs(tuple(over_aggregates(each, session) for each in plan.inputs))
    if not isinstance(plan, Over):
        return plan
    calls = tuple(replace(call, frame=streaming_frame(call)) for call in plan.calls)
    found = OverAggregate(plan.input, calls, plan.names)
    return found if found.has_time else NonTimeOverAggregate(plan.input, calls, plan.names)
