"""Translate aggregates with OVER."""

from __future__ import annotations

from dataclasses import replace

from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Over, Plan
from scurry.sql.plan.physical.over import NonTimeOverAggregate, OverAggregate
from scurry.sql.plan.windows import streaming_frame
from scurry.sql.planner.rules.time_attributes import stays_time


def over_aggregates(plan: Plan, session: EvaluationContext) -> Plan:
    """Make OVER aggregations of the windows of rows that no other rule has recognised.

    Raises:
        ValidationError: Rows are ordered by several columns, which only the first rows of an order can be.
    """
    plan = plan.with_inputs(tuple(over_aggregates(each, session) for each in plan.inputs))
    if not isinstance(plan, Over):
        return plan
    if any(len(call.order_by) != 1 for call in plan.calls):
        raise ValidationError("The window can only be ordered by a single time column.")
    calls = tuple(replace(call, frame=streaming_frame(call)) for call in plan.calls)
    found = OverAggregate(plan.input, calls, plan.names)
    return found if stays_time(plan.input, found.time) else NonTimeOverAggregate(plan.input, calls, plan.names)
