"""Limits below projections."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Filter, Limit, Plan, Project, Sort


def limits_below_projections(plan: Plan, session: EvaluationContext) -> Plan:
    """Compute columns of the rows that a limit keeps only, as Flink does unless rows are filtered, too."""
    plan = plan.with_inputs(tuple(limits_below_projections(each, session) for each in plan.inputs))
    if not isinstance(plan, Limit):
        return plan
    below = plan.input
    if isinstance(below, Sort):
        rows = below.input
        if not _is_moved(rows):
            return plan
        assert isinstance(rows, Project)
        columns = [rows.expressions[key.index] for key in below.keys]
        keys = [
            replace(key, index=column.index)
            for key, column in zip(below.keys, columns, strict=True)
            if isinstance(column, InputReference)
        ]
        if len(keys) < len(columns):
            return plan
        return replace(rows, input=replace(plan, input=Sort(rows.input, tuple(keys))))
    if not _is_moved(below):
        return plan
    assert isinstance(below, Project)
    return replace(below, input=replace(plan, input=below.input))


def _is_moved(plan: Plan) -> bool:
    return isinstance(plan, Project) and not isinstance(plan.input, Filter | Project)
