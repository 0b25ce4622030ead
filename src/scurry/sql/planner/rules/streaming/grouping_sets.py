"""Translate GROUPING SETS, CUBE and ROLLUP to an expansion of rows and one aggregate."""

from __future__ import annotations

from dataclasses import replace
from functools import cmp_to_key

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes import Aggregate, Plan, Project
from scurry.sql.plan.nodes.aggregates import set_numbers
from scurry.sql.plan.physical.aggregates import Expand


def expand_grouping_sets(plan: Plan, session: EvaluationContext) -> Plan:
    """Make aggregates with several grouping sets of rows that are repeated for each set."""
    plan = plan.with_inputs(tuple(expand_grouping_sets(each, session) for each in plan.inputs))
    return _expanded(plan) if isinstance(plan, Aggregate) and not plan.is_simple else plan


def _expanded(plan: Aggregate) -> Plan:
    width, count = len(plan.input.schema), len(plan.keys)
    sets = tuple(sorted(plan.grouping_sets, key=cmp_to_key(_compared)))
    rows = Expand(plan.input, plan.keys, sets, set_numbers(sets, count))
    keys = tuple(range(width, width + count + 1))
    places = tuple(range(count + 1))
    grouped = replace(plan, input=rows, keys=keys, grouping_sets=(places,), grouping_id=None)
    order = [*range(count), *([count] if plan.grouping_id is not None else []), *range(count + 1, len(grouped.schema))]
    columns: list[Expression] = [builders.column(grouped, place) for place in order]
    return Project(grouped, tuple(columns), plan.schema.names)


def _compared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Compare grouping sets as Calcite orders them, which is the order of a row's copies: sets before their parts."""
    if set(one) >= set(other):
        return -1
    if set(one) <= set(other):
        return 1
    return sum(1 << place for place in one) - sum(1 << place for place in other)
