"""Grouping sets that are repeated: each repetition is an aggregation of its own, whose rows GROUP_ID numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.plan.nodes import Aggregate, Plan
from scurry.sql.plan.nodes.aggregates import set_numbers
from scurry.sql.plan.schema import Column, Schema


def union_of_repetitions(plan: Aggregate) -> Plan:
    """Return the union of aggregations none of which repeats a set; GROUP_ID is the column behind the set's number."""
    counts = Counter(plan.grouping_sets)
    branches = []
    for number in range(max(counts.values())):
        branches.append(_branch(plan, [each for each in counts if counts[each] > number], number))
    return builders.set_operation("UNION", True, branches, _schema(plan))


def _branch(plan: Aggregate, sets: Sequence[tuple[int, ...]], number: int) -> Plan:
    width = len(plan.keys)
    assert plan.grouping_id is not None
    if len(sets) > 1:
        aggregate = replace(plan, grouping_sets=tuple(sets))
        columns: list[Expression] = list(builders.columns(aggregate))
    else:
        # Flink groups by all keys where a single set is left, and numbers its rows as those of the set.
        aggregate = replace(plan, grouping_sets=(tuple(range(width)),), grouping_id=None)
        columns = list(builders.columns(aggregate))
        (number_of_set,) = set_numbers(sets, width)
        columns.insert(width, Literal(number_of_set, plan.grouping_id))
    columns.insert(width + 1, Literal(number, plan.grouping_id))
    return builders.project(aggregate, columns, _schema(plan).names)


def _schema(plan: Aggregate) -> Schema:
    columns = list(plan.schema)
    assert plan.grouping_id is not None
    return Schema((*columns[: len(plan.keys) + 1], Column("$g", plan.grouping_id), *columns[len(plan.keys) + 1 :]))
