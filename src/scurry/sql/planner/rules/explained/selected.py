"""The order of aggregates: those of SELECT come before those of HAVING."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Aggregate, Filter, Plan, Project
from scurry.sql.plan.rewriting import input_references, remapped, walk_expression


def selected_first(plan: Plan, session: EvaluationContext) -> Plan:
    """Put aggregates of HAVING behind those that are selected, as Flink collects them."""
    plan = plan.with_inputs(tuple(selected_first(each, session) for each in plan.inputs))
    if not isinstance(plan, Project) or not isinstance(plan.input, Filter):
        return plan
    having = plan.input
    below = having.input
    if not isinstance(below, Aggregate) or not input_references(having.condition):
        return plan
    first = len(below.schema) - len(below.calls)
    used = [
        part.index - first
        for each in plan.expressions
        for part in walk_expression(each)
        if isinstance(part, InputReference) and part.index >= first
    ]
    order = list(dict.fromkeys([*used, *range(len(below.calls))]))
    if order == list(range(len(below.calls))):
        return plan
    names = [below.names[place] for place in order]
    names = [f"$f{first + place}" if name.startswith("$f") else name for place, name in enumerate(names)]
    changed = replace(below, calls=tuple(below.calls[place] for place in order), names=tuple(names))
    moved = {**{place: place for place in range(first)}, **{first + old: first + new for new, old in enumerate(order)}}
    condition = remapped(having.condition, moved)
    return Project(Filter(changed, condition), tuple(remapped(each, moved) for each in plan.expressions), plan.names)
