"""Rules that merge projections, and remove aggregates that keep rows as they are."""

from __future__ import annotations

from collections import Counter

from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import converted
from scurry.sql.plan.expressions import AggregateCall, InputReference, Literal
from scurry.sql.plan.nodes import Aggregate, Plan, Project
from scurry.sql.plan.rewriting import substituted, walk_expression
from scurry.sql.planner.rules.prune_columns import prune_columns
from scurry.sql.planner.unique_keys import is_unique


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


def unneeded_aggregates(plan: Plan, session: EvaluationContext) -> Plan:
    """Replace aggregates by a unique key of their input, and DISTINCT of unique rows, as Flink's planner does."""
    changed = _rewritten(plan, session)
    return plan if changed == plan else merge_projections(prune_columns(changed, session), session)


def _rewritten(plan: Plan, session: EvaluationContext) -> Plan:
    plan = plan.with_inputs(tuple(_rewritten(each, session) for each in plan.inputs))
    if not isinstance(plan, Aggregate) or not plan.is_simple or not all(map(_is_argument, plan.calls)):
        return plan
    if not plan.keys or not is_unique(plan.input, frozenset(plan.keys)):
        return plan
    values = [converted(each.arguments[0], each.type, session) for each in plan.calls]
    keys = [builders.column(plan.input, key) for key in plan.keys]
    rows = builders.project(plan.input, [*keys, *values], plan.schema.names)
    return rows if rows.schema.types == plan.schema.types else plan


def _is_argument(call: AggregateCall) -> bool:
    return properties_of(call.function).is_value_of_one_row and call.filter is None
