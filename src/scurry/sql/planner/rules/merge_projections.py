"""Merge a projection of a projection into one."""

from __future__ import annotations

from collections import Counter

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import InputReference, Literal
from scurry.sql.plan.nodes import Plan, Project
from scurry.sql.plan.rewriting import substituted, walk_expression


def merge_projections(plan: Plan, session: EvaluationContext) -> Plan:
    """Compute the columns of nested projections at once, unless something would be computed more than once."""
    plan = plan.with_inputs(tuple(merge_projections(each, session) for each in plan.inputs))
    while isinstance(plan, Project) and isinstance(plan.input, Project) and _is_used_once(plan, plan.input):
        inner = plan.input
        plan = Project(
            inner.input, tuple(substituted(each, inner.expressions) for each in plan.expressions), plan.names
        )
    if isinstance(plan, Project):
        return builders.project(plan.input, plan.expressions, plan.names)
    return plan


def _is_used_once(outer: Project, inner: Project) -> bool:
    uses = Counter(
        part.index for each in outer.expressions for part in walk_expression(each) if isinstance(part, InputReference)
    )
    return all(
        count == 1 or isinstance(inner.expressions[index], InputReference | Literal) for index, count in uses.items()
    )
