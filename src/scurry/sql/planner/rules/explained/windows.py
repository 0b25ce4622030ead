"""Sums of OVER as Flink computes them of other aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.nodes import Filter, Over, Plan, Project
from scurry.sql.plan.physical.over import OverAggregate
from scurry.sql.plan.physical.windows import WindowRank
from scurry.sql.plan.rewriting import all_substituted, input_references, remapped, with_parts
from scurry.sql.plan.windows import WindowCall
from scurry.sql.planner.explain.written import value_of_sums
from scurry.sql.types import BigIntType


def sums_of_windows(plan: Plan, session: EvaluationContext) -> Plan:
    """Compute SUM and AVG of a window of its COUNT and $SUM0, and name columns that are not computed as Flink does."""
    plan = plan.with_inputs(tuple(sums_of_windows(each, session) for each in plan.inputs))
    if isinstance(plan, Project) and isinstance(plan.input, Over | OverAggregate):
        return _split(plan, plan.input)
    return plan


def narrowed_windows(plan: Plan, session: EvaluationContext) -> Plan:
    """Read only the columns for OVER in BATCH that its query selects, before filters around the query are pushed."""
    plan = plan.with_inputs(tuple(narrowed_windows(each, session) for each in plan.inputs))
    if session.is_streaming or not isinstance(plan, Project) or not isinstance(plan.input, Over):
        return plan
    over, width = plan.input, len(plan.input.input.schema)
    used = {place for each in (*plan.expressions, *over.calls) for place in input_references(each) if place < width}
    kept = sorted(used)
    if len(kept) in (0, width):
        return plan
    moved = {place: new for new, place in enumerate(kept)}
    moved |= {width + place: len(kept) + place for place in range(len(over.calls))}
    names = over.input.schema.names
    rows = Project(
        over.input, tuple(builders.column(over.input, each) for each in kept), tuple(names[each] for each in kept)
    )
    calls = tuple(with_parts(each, lambda part: remapped(part, moved)) for each in over.calls)
    return Project(Over(rows, calls, over.names), tuple(remapped(each, moved) for each in plan.expressions), plan.names)


def numbers_of_ranks(plan: Plan, session: EvaluationContext) -> Plan:
    """Leave the number of a row its own name where a query only selects columns of numbered rows."""
    plan = plan.with_inputs(tuple(numbers_of_ranks(each, session) for each in plan.inputs))
    if not isinstance(plan, Project) or not all(isinstance(each, InputReference) for each in plan.expressions):
        return plan
    below = plan.input
    rows = below.input if isinstance(below, Filter) else below
    is_numbered = isinstance(below, Filter) and isinstance(rows, Over)
    if not is_numbered and not isinstance(rows, WindowRank):
        return plan
    places = [each.index for each in plan.expressions if isinstance(each, InputReference)]
    if places != sorted(places):
        return plan
    known = rows.schema.names
    names = tuple(
        known[each.index] if isinstance(each, InputReference) and known[each.index].startswith("w0$") else name
        for each, name in zip(plan.expressions, plan.names, strict=True)
    )
    return replace(plan, names=names)


def _split(plan: Project, over: Over | OverAggregate) -> Plan:
    width = len(over.input.schema)
    calls: list[WindowCall] = []
    values: list[Expression] = []
    for call in over.calls:
        values.append(_value(call, calls, width))
    columns: list[Expression] = [*builders.columns(over.input), *values]
    names = tuple(f"w0$o{place}" for place in range(len(calls)))
    changed = replace(over, calls=tuple(calls), names=names)
    expressions = all_substituted(plan.expressions, columns)
    return Project(changed, tuple(expressions), _names(plan, expressions, width))


def _names(plan: Project, expressions: Sequence[Expression], width: int) -> tuple[str, ...]:
    """Return the names of columns: Flink loses those of aggregates if no column is computed."""
    if not all(isinstance(each, InputReference) for each in expressions):
        return plan.names
    return tuple(
        f"${place}" if isinstance(each, InputReference) and each.index >= width else name
        for place, (each, name) in enumerate(zip(expressions, plan.names, strict=True))
    )


def _value(call: WindowCall, calls: list[WindowCall], width: int) -> Expression:
    """Return the value of an aggregate over others, which are added."""

    def column(each: WindowCall) -> Expression:
        if each not in calls:
            calls.append(each)
        return InputReference(width + calls.index(each), each.type)

    return value_of_sums(call, column, BigIntType(False))
