"""Outer joins that neither add columns which are used, nor rows, are left out."""

from __future__ import annotations

from collections.abc import Iterator

from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import AggregateCall, InputReference, Literal
from scurry.sql.plan.join_keys import split_condition
from scurry.sql.plan.nodes import Aggregate, Join, Over, Plan, Project
from scurry.sql.plan.rewriting import input_references
from scurry.sql.planner.rules.merge_projections import merge_projections
from scurry.sql.planner.rules.prune_columns import prune_columns
from scurry.sql.planner.unique_keys import is_unique


def unused_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Read the preserved side of an outer join alone where the other one is not used, as Flink's planner does.

    The other side must have one row at most for each row: a unique key of it is compared. That is not needed below
    aggregates for which it does not matter how often a row comes. Below OVER, Flink keeps the join.
    """
    changed = _rewritten(plan)
    return plan if changed == plan else merge_projections(prune_columns(changed, session), session)


def _rewritten(plan: Plan) -> Plan:
    below = _with_rewritten_inputs if isinstance(plan, Over) else _rewritten
    plan = plan.with_inputs(tuple(below(each) for each in plan.inputs))
    if isinstance(plan, Join):  # of which one side has no columns
        return _preserved(plan, set(range(len(plan.schema))), only_different=False)
    if isinstance(plan, Project):
        return _narrowed(plan)
    if isinstance(plan, Aggregate):
        only_different = all(_ignores_repetition(each) for each in plan.calls)
        used = set(plan.keys).union(*(input_references(each) for each in plan.calls))
        if isinstance(plan.input, Join):
            return plan.with_inputs((_preserved(plan.input, used, only_different),))
        if only_different and isinstance(plan.input, Project) and _is_selection(plan.input):
            return plan.with_inputs((_narrowed(plan.input, only_different=True),))
    return plan


def _with_rewritten_inputs(plan: Plan) -> Plan:
    return plan.with_inputs(tuple(map(_rewritten, plan.inputs)))


def _ignores_repetition(call: AggregateCall) -> bool:
    # Flink leaves out a DISTINCT that changes nothing before it looks for unused joins.
    return call.distinct and call.filter is None and not properties_of(call.function).distinct_free


def _is_selection(plan: Project) -> bool:
    return all(isinstance(each, InputReference) for each in plan.expressions)


def _narrowed(plan: Project, only_different: bool = False) -> Project:
    if not isinstance(plan.input, Join):
        return plan
    used = set().union(*map(input_references, plan.expressions))
    return Project(_preserved(plan.input, used, only_different), plan.expressions, plan.names)


def _preserved(join: Join, used: set[int], only_different: bool) -> Plan:
    """Return the preserved side of a join with NULLs for the columns of the other one; the join if both are used.

    Args:
        only_different: Whether it does not matter how often a row comes.
    """
    width, left = len(join.left.schema), join.kind == "LEFT"
    if join.kind not in ("LEFT", "RIGHT") or any((column < width) != left for column in used):
        return join
    side, other, first = (join.left, join.right, 0) if left else (join.right, join.left, width)
    if not only_different and not is_unique(other, frozenset(_compared(join, of_right=left))):
        return join
    columns = [
        builders.column(side, place - first) if (place < width) == left else Literal(None, each)
        for place, each in enumerate(join.schema.types)
    ]
    return Project(side, tuple(columns), tuple(join.schema.names))


def _compared(join: Join, of_right: bool) -> Iterator[int]:
    """Iterate over the columns of a side that must equal something of the other side."""
    equal, _ = split_condition(join.condition, len(join.left.schema))
    for each in equal:
        compared = each.right if of_right else each.left
        if isinstance(compared, InputReference):
            yield compared.index
