"""Aggregates as Flink computes them of others: conditions that are never NULL, and different values in BATCH."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import AggregateCall, Call, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Aggregate, Plan, Project, Scan
from scurry.sql.plan.nodes.aggregates import set_numbers
from scurry.sql.plan.physical.aggregates import Expand
from scurry.sql.plan.rewriting import input_references, remapped, with_parts
from scurry.sql.types import BigIntType, BooleanType, DataType, IntType

_TRUTH = BooleanType(False)


def conditions_of_aggregates(plan: Plan, session: EvaluationContext) -> Plan:
    """Make the conditions of aggregates TRUE or FALSE where they are computed."""
    plan = plan.with_inputs(tuple(conditions_of_aggregates(each, session) for each in plan.inputs))
    calls = getattr(plan, "calls", ())
    conditions = {
        each.filter.index
        for each in calls
        if isinstance(each, AggregateCall) and isinstance(each.filter, InputReference)
    }
    below = plan.inputs[0] if conditions else None
    if not isinstance(below, Project):
        return plan
    shown = tuple(
        Call("IS TRUE", (each,), _TRUTH) if place in conditions and each.type.is_nullable else each
        for place, each in enumerate(below.expressions)
    )
    return plan.with_inputs((replace(below, expressions=shown),))


def without_empty_rows(plan: Plan, session: EvaluationContext) -> Plan:
    """Count rows as they are rather than rows without columns."""
    plan = plan.with_inputs(tuple(without_empty_rows(each, session) for each in plan.inputs))
    if isinstance(plan, Aggregate) and isinstance(plan.input, Project) and not plan.input.expressions:
        return replace(plan, input=plan.input.input)
    return plan


def counted_rows(plan: Plan, session: EvaluationContext) -> Plan:
    """Give rows that are only counted a column of zeros."""
    plan = plan.with_inputs(tuple(counted_rows(each, session) for each in plan.inputs))
    if not isinstance(plan, Aggregate) or plan.keys or not plan.calls:
        return plan
    if any(call.arguments or call.filter is not None for call in plan.calls):
        return plan
    below = plan.input.input if isinstance(plan.input, Project) else plan.input
    return replace(plan, input=Project(below, (Literal(0, IntType(False)),), ("$f0",)))


def copied_keys(plan: Plan, session: EvaluationContext) -> Plan:
    """Copy the keys of grouping sets that aggregates need in all sets."""
    plan = plan.with_inputs(tuple(copied_keys(each, session) for each in plan.inputs))
    if not isinstance(plan, Aggregate) or not isinstance(plan.input, Expand):
        return plan
    used = {place for call in plan.calls for place in input_references(call)}
    copied = tuple(key for key in plan.input.keys if key in used)
    return replace(plan, input=replace(plan.input, copied=copied)) if copied else plan


def split_distinct(plan: Plan, session: EvaluationContext) -> Plan:
    """Make aggregates of different values aggregates of groups that have them, as Flink does in BATCH."""
    plan = plan.with_inputs(tuple(split_distinct(each, session) for each in plan.inputs))
    if not isinstance(plan, Aggregate) or not plan.is_simple or not any(call.distinct for call in plan.calls):
        return plan
    plan = _without_order(plan)
    different = list(dict.fromkeys(_columns(call) for call in plan.calls if call.distinct))
    if any(call.filter is not None for call in plan.calls) or None in different:
        return plan
    if len(different) == 1 and all(call.distinct for call in plan.calls):
        return _grouped_twice(plan)
    return _by_sets(plan, [each for each in different if each is not None])


def _without_order(plan: Aggregate) -> Aggregate:
    """Return an aggregation of a table all of whose columns are used, in the order of the table."""
    below = plan.input
    if not isinstance(below, Project) or not isinstance(below.input, Scan):
        return plan
    places = [each.index for each in below.expressions if isinstance(each, InputReference)]
    if sorted(places) != list(range(len(below.input.table_schema))) or below.names != tuple(
        below.input.schema.names[place] for place in places
    ):
        return plan
    calls = tuple(with_parts(call, lambda part: remapped(part, places)) for call in plan.calls)
    return replace(plan, input=below.input, keys=tuple(places[key] for key in plan.keys), calls=calls)


def _columns(call: AggregateCall) -> tuple[int, ...] | None:
    """Return the columns that an aggregate is of; None if it is of something else."""
    found = tuple(each.index for each in call.arguments if isinstance(each, InputReference))
    return found if len(found) == len(call.arguments) else None


def _grouped_twice(plan: Aggregate) -> Plan:
    arguments = _columns(plan.calls[0]) or ()
    groups = tuple(dict.fromkeys((*plan.keys, *arguments)))
    inner = Aggregate(plan.input, groups, (), (), (tuple(range(len(groups))),))
    return replace(
        plan,
        input=inner,
        keys=tuple(groups.index(key) for key in plan.keys),
        calls=tuple(_moved(replace(call, distinct=False), groups) for call in plan.calls),
    )


def _moved(call: AggregateCall, columns: tuple[int, ...]) -> AggregateCall:
    def moved(expression: Expression) -> Expression:
        if isinstance(expression, InputReference):
            return replace(expression, index=columns.index(expression.index))
        return expression

    return with_parts(call, moved)


def _by_sets(plan: Aggregate, different: Sequence[tuple[int, ...]]) -> Plan:
    """Return an aggregation with a grouping set for each kind of aggregates, above which each kind takes its rows."""
    keys = plan.keys
    groups = tuple(sorted({*keys, *(column for each in different for column in each)}))
    plain = [place for place, call in enumerate(plan.calls) if not call.distinct]
    sets = {_places(groups, (*keys, *each)) for each in different} | ({_places(groups, keys)} if plain else set())
    ordered = tuple(sorted(sets, key=lambda each: [place not in each for place in range(len(groups))]))
    inner = Aggregate(
        plan.input,
        groups,
        tuple(plan.calls[place] for place in plain),
        tuple(plan.names[place] for place in plain),
        ordered,
        BigIntType(False),
    )
    rows = _marked(inner)
    first = len(rows.schema) - len(ordered)
    calls = []
    for place, call in enumerate(plan.calls):
        own = (*keys, *(_columns(call) or ())) if call.distinct else keys
        mark = InputReference(first + ordered.index(_places(groups, own)), _TRUTH)
        if call.distinct:
            calls.append(replace(_moved(replace(call, distinct=False), groups), filter=mark))
        else:
            part = InputReference(len(groups) + plain.index(place), call.type)
            calls.append(AggregateCall("MIN", (part,), call.type.nullable(), False, mark))
    places = tuple(range(len(keys)))
    return _with_types(
        Aggregate(rows, tuple(groups.index(key) for key in keys), tuple(calls), plan.names, (places,)), plan
    )


def _places(groups: tuple[int, ...], columns: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted({groups.index(column) for column in columns}))


def _marked(plan: Aggregate) -> Project:
    """Return groups of several sets without the number of their set, but with a column for each set that is TRUE."""
    numbers = [Literal(each, IntType(False)) for each in set_numbers(plan.grouping_sets, len(plan.keys))]
    of_row = builders.column(plan, len(plan.keys))
    case: list[Expression] = []
    for each in numbers[:-1]:
        case += [Call("=", (of_row, each), _TRUTH), each]
    chosen = Call("CASE", (*case, numbers[-1]), BigIntType(False))
    kept = [each for each in builders.columns(plan) if each != of_row]
    marks = [Call("=", (chosen, each), _TRUTH) for each in numbers]
    names = [*(plan.schema.names[each.index] for each in kept), *(f"$g_{each.value}" for each in numbers)]
    return Project(plan, (*kept, *marks), tuple(names))


def _with_types(outer: Aggregate, plan: Aggregate) -> Plan:
    """Return the columns with the types that they had: the least number of rows is one, and of no rows it is 0."""
    shown = [
        column if column.type == kind else _as_count(column, kind, bool(plan.keys))
        for column, kind in zip(builders.columns(outer), plan.schema.types, strict=True)
    ]
    return builders.project(outer, shown, plan.schema.names)


def _as_count(column: Expression, kind: DataType, has_keys: bool) -> Expression:
    if has_keys:
        return Call("CAST", (column,), kind)
    return Call("CASE", (Call("IS NOT NULL", (column,), _TRUTH), column, Literal(0, BigIntType(False))), kind)
