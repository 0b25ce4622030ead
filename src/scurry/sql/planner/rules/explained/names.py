"""Names of columns that a query does not name, as Flink derives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.nodes import Aggregate, Filter, Join, Limit, Plan, Project, Scan, Sort
from scurry.sql.plan.rewriting import all_substituted
from scurry.sql.planner.explain.names import distinct_names


def merged_names(plan: Plan, session: EvaluationContext) -> Plan:
    """Give the columns of a query their last names where they are computed."""
    if plan.inputs and not isinstance(plan, Project):
        return plan.with_inputs(tuple(merged_names(each, session) for each in plan.inputs)) if _is_order(plan) else plan
    below = plan.inputs[0] if plan.inputs else None
    if not isinstance(plan, Project) or not isinstance(below, Project) or not _are_columns(plan.expressions):
        return plan
    if len(plan.expressions) != len(below.expressions):
        return plan
    return Project(below.input, tuple(all_substituted(plan.expressions, below.expressions)), plan.names)


def all_selected(plan: Plan) -> Plan:
    """Return a query of all columns with its own projection above that of a view or a query in FROM."""
    if _is_order(plan):
        return plan.with_inputs(tuple(map(all_selected, plan.inputs)))
    is_query = isinstance(plan, Project) and not isinstance(plan.input, Scan) and not _are_columns(plan.expressions)
    return Project(plan, builders.columns(plan), plan.schema.names) if is_query else plan


def _is_order(plan: Plan) -> bool:
    return isinstance(plan, Limit | Sort)


def _are_columns(expressions: Sequence[Expression]) -> bool:
    return [each.index for each in expressions if isinstance(each, InputReference)] == list(range(len(expressions)))


def names_of_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Add numbers to the names that both sides of a join have, below an aggregation that names none of its columns."""
    plan = plan.with_inputs(tuple(names_of_joins(each, session) for each in plan.inputs))
    if isinstance(plan, Aggregate) and isinstance(plan.input, Project) and _is_join(plan.input.input):
        below = plan.input
        names, given = _names(below.input), below.input.schema.names
        shown = [
            names[each.index] if isinstance(each, InputReference) and given[each.index] == name else name
            for each, name in zip(below.expressions, below.names, strict=True)
        ]
        return replace(plan, input=replace(below, names=tuple(shown)))
    return plan


def numbered_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Select the columns of a join that another one reads under numbered names."""
    plan = plan.with_inputs(tuple(numbered_joins(each, session) for each in plan.inputs))
    if not isinstance(plan, Join):
        return plan
    return plan.with_inputs(tuple(map(_numbered, plan.inputs)))


def _numbered(plan: Plan) -> Plan:
    if not _is_join(plan) or len(set(plan.schema.names)) == len(plan.schema.names):
        return plan
    return Project(plan, builders.columns(plan), tuple(_names(plan)))


def _names(plan: Plan) -> list[str]:
    if isinstance(plan, Filter):
        return _names(plan.input)
    assert isinstance(plan, Join)
    left = _names(plan.left) if _is_join(plan.left) else list(plan.left.schema.names)
    right = _names(plan.right) if _is_join(plan.right) else list(plan.right.schema.names)
    return distinct_names([*left, *right])[: len(plan.schema)]


def _is_join(plan: Plan) -> bool:
    return isinstance(plan, Join) or (isinstance(plan, Filter) and _is_join(plan.input))


def names_of_keys(plan: Plan, session: EvaluationContext) -> Plan:
    """Give computed keys of groups the names under which they are selected."""
    plan = plan.with_inputs(tuple(names_of_keys(each, session) for each in plan.inputs))
    if isinstance(plan, Aggregate):
        return _renamed(plan, {})
    if not isinstance(plan, Project):
        return plan
    having = plan.input if isinstance(plan.input, Filter) else None
    aggregate = plan.input if having is None else having.input
    if not isinstance(aggregate, Aggregate):
        return plan
    selected = {
        each.index: name
        for each, name in zip(reversed(plan.expressions), reversed(plan.names), strict=True)
        if isinstance(each, InputReference) and each.index < len(aggregate.keys)
    }
    changed = _renamed(aggregate, selected)
    below: Plan = changed if having is None else replace(having, input=changed)
    return builders.project(below, plan.expressions, plan.names)


def _renamed(plan: Aggregate, selected: dict[int, str]) -> Aggregate:
    below = plan.input
    if not isinstance(below, Project):
        return plan
    names = list(below.names)
    for place, key in enumerate(plan.keys):
        if names[key].startswith("$f"):
            names[key] = selected.get(place, f"$f{key}")
    return plan if tuple(names) == below.names else replace(plan, input=replace(below, names=tuple(names)))


def sorted_names(plan: Plan, session: EvaluationContext) -> Plan:
    """Limit and sort rows at once below a projection, and name columns that only the order has."""
    plan = plan.with_inputs(tuple(sorted_names(each, session) for each in plan.inputs))
    if isinstance(plan, Limit) and isinstance(plan.input, Project) and isinstance(plan.input.input, Sort):
        below = plan.input
        if all(isinstance(each, InputReference) for each in below.expressions):
            return sorted_names(replace(below, input=replace(plan, input=below.input)), session)
    if isinstance(plan, Sort) and isinstance(plan.input, Project):
        rows = plan.input
        names = [
            _name_of_order(rows, place) if name.startswith("$sort") else name for place, name in enumerate(rows.names)
        ]
        return replace(plan, input=replace(rows, names=tuple(names)))
    return plan


def _name_of_order(rows: Project, place: int) -> str:
    column = rows.expressions[place]
    if not isinstance(column, InputReference):
        return f"EXPR${place}"
    name = rows.input.schema.names[column.index]
    taken = [*rows.names[:place]]
    return name if name not in taken else distinct_names([*taken, name])[-1]
