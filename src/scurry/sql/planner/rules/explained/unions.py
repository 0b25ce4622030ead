"""Unions of several queries, which Flink has as unions of two."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan, SetOperation


def nested_unions(plan: Plan, session: EvaluationContext) -> Plan:
    """Combine two queries at a time, the first ones first."""
    plan = plan.with_inputs(tuple(nested_unions(each, session) for each in plan.inputs))
    if not isinstance(plan, SetOperation) or len(plan.branches) < 3:
        return plan
    whole = plan
    return reduce(lambda left, right: replace(whole, branches=(left, right)), plan.branches)
