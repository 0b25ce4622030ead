"""Group windows, which Flink has as keys of GROUP BY and as operators of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Aggregate, Filter, Plan, Project, WindowTable
from scurry.sql.plan.physical.windows import GroupWindowAggregate, window_of
from scurry.sql.plan.rewriting import input_references, remapped, substituted, with_parts
from scurry.sql.planner.rules.explained.selected import selected_first
from scurry.sql.planner.rules.streaming.window_aggregates import check_merging
from scurry.sql.types import TimestampType
from scurry.sql.types.families import DAY_TIME_INTERVAL, is_proctime

_PROPERTIES = ("START", "END", "ROWTIME")


def written_group_windows(plan: Plan, session: EvaluationContext) -> Plan:
    """Make one key of a window of GROUP BY, and calls of its columns, as they are written."""
    plan = plan.with_inputs(tuple(written_group_windows(each, session) for each in plan.inputs))
    chain, aggregate = _chain(plan)
    if aggregate is None or not chain:
        return plan
    rows, table, first = _rows(aggregate)
    if table is None:
        return plan
    keys = [key for place, key in enumerate(aggregate.keys) if not first <= place < first + 3]
    window = _call(f"${table.kind}", table)
    moved: dict[int, int] = {}
    for key in aggregate.keys[:first]:
        moved[key] = len(moved)
    columns = [*(rows[key][0] for key in aggregate.keys[:first]), window]
    names = [*(rows[key][1] for key in aggregate.keys[:first]), f"$f{first}"]
    used = [*aggregate.keys[first + 3 :], *_arguments(aggregate)]
    for each in used:
        if each not in moved:
            moved[each] = len(columns)
            columns.append(rows[each][0])
            names.append(rows[each][1])
    before, after = aggregate.keys[:first], aggregate.keys[first + 3 :]
    grouped = (*(moved[key] for key in before), first, *(moved[key] for key in after))
    calls = tuple(with_parts(call, lambda part: remapped(part, moved)) for call in aggregate.calls)
    below = Project(table.input, tuple(columns), tuple(names))
    made = Aggregate(below, grouped, calls, _numbered(aggregate, len(keys) + 1), (tuple(range(len(keys) + 1)),))
    return _above(chain, made, _of_groups(aggregate, made, table, first))


def group_windows(plan: Plan, session: EvaluationContext) -> Plan:
    """Make operators of windows of GROUP BY."""
    return _grouped(plan.with_inputs(tuple(group_windows(each, session) for each in plan.inputs)), session)


def windows_of_having(plan: Plan, session: EvaluationContext) -> Plan:
    """Make operators of windows whose bounds HAVING reads, which otherwise are conditions on the rows of a window."""
    plan = plan.with_inputs(tuple(windows_of_having(each, session) for each in plan.inputs))
    chain, aggregate = _chain(plan)
    if aggregate is None or not isinstance(chain[-1], Filter):
        return plan
    _, table, first = _rows(aggregate)
    bounds = {first, first + 1, first + 2}
    if table is None or not bounds & input_references(chain[-1].condition):
        return plan
    return _grouped(selected_first(plan, session), session)


def _grouped(plan: Plan, session: EvaluationContext) -> Plan:
    """Return a plan whose aggregation is that of a window."""
    chain, aggregate = _chain(plan)
    if aggregate is None or not chain:
        return plan
    rows, table, first = _rows(aggregate)
    if table is None:
        return plan
    check_merging(aggregate, table.kind)
    columns: list[Expression] = []
    names: list[str] = []
    moved: dict[int, int] = {}
    for key in (*aggregate.keys[:first], -1, *aggregate.keys[first + 3 :], *_arguments(aggregate)):
        if key in moved:
            continue
        moved[key] = len(columns)
        time = builders.column(table.input, table.time)
        columns.append(time if key == -1 else rows[key][0])
        names.append(table.input.schema.names[table.time] if key == -1 else rows[key][1])
    kept = [key for place, key in enumerate(aggregate.keys) if not first <= place < first + 3]
    found = {
        each - first
        for step in chain
        for expression in (step.expressions if isinstance(step, Project) else [step.condition])
        for each in input_references(expression)
        if first <= each < first + 3
    }
    is_clock = is_proctime(table.input.schema[table.time].type)
    shown = ("start", "end", *(() if is_clock else ("rowtime",)), *(("proctime",) if session.is_streaming else ()))
    made = GroupWindowAggregate(
        Project(table.input, tuple(columns), tuple(names)),
        window_of(table),
        moved[-1],
        tuple(moved[key] for key in kept),
        tuple(with_parts(call, lambda part: remapped(part, moved)) for call in aggregate.calls),
        _numbered(aggregate, len(kept)),
        shown if found else (),
    )
    places = [made.schema.names.index(f"w${name}") for name in shown] if found else []
    values: list[Expression] = []
    for place, kind in enumerate(aggregate.schema.types):
        if first <= place < first + 3:
            index = min(place - first, len(places) - 1) if places else 0
            values.append(InputReference(places[index] if places else 0, kind))
        else:
            values.append(builders.column(made, place if place < first else place - 3))
    return _above(chain, made, values)


def _chain(plan: Plan) -> tuple[list[Project | Filter], Aggregate | None]:
    """Return the projection above an aggregation, and a filter between them."""
    chain: list[Project | Filter] = []
    while isinstance(plan, Project | Filter) and len(chain) < 2:
        chain.append(plan)
        plan = plan.input
    if not chain or not isinstance(chain[0], Project) or not isinstance(plan, Aggregate) or not plan.is_simple:
        return [], None
    return chain, plan


def _rows(plan: Aggregate) -> tuple[list[tuple[Expression, str]], WindowTable | None, int]:
    """Return the columns of an aggregation's rows over those of the table, the windows, and the place of their keys."""
    below = plan.input
    table = below.input if isinstance(below, Project) else below
    if not isinstance(table, WindowTable) or table.partition_by is not None:
        return [], None, 0
    columns = below.expressions if isinstance(below, Project) else builders.columns(below)
    width = len(table.input.schema)
    places = [getattr(columns[key], "index", None) for key in plan.keys]
    if places.count(width) != 1:
        return [], None, 0
    first = places.index(width)
    if places[first : first + 3] != [width, width + 1, width + 2]:
        return [], None, 0
    return list(zip(columns, below.schema.names, strict=True)), table, first


def _numbered(plan: Aggregate, keys: int) -> tuple[str, ...]:
    return tuple(f"$f{keys + place}" if name.startswith("$f") else name for place, name in enumerate(plan.names))


def _arguments(plan: Aggregate) -> list[int]:
    return [each for call in plan.calls for each in sorted(input_references(call))]


def _call(name: str, table: WindowTable) -> Call:
    lengths = [each for each in (table.slide, table.size) if each is not None]
    lengths += [table.offset] if table.offset else []
    time = builders.column(table.input, table.time)
    return Call(name, (time, *(Literal(each, DAY_TIME_INTERVAL) for each in lengths)), TimestampType(3))


def _of_groups(plan: Aggregate, made: Aggregate, table: WindowTable, first: int) -> list[Expression]:
    """Return the columns of an aggregation over those of one with a single key of the window."""
    is_clock = is_proctime(table.input.schema[table.time].type)
    values: list[Expression] = []
    for place, kind in enumerate(plan.schema.types):
        if first <= place < first + 3:
            name = "PROCTIME" if is_clock and place == first + 2 else _PROPERTIES[place - first]
            values.append(Call(f"{table.kind}_{name}", (builders.column(made, first),), kind))
        else:
            values.append(builders.column(made, place if place < first else place - 2))
    return values


def _above(chain: Sequence[Project | Filter], made: Plan, values: Sequence[Expression]) -> Plan:
    """Return the projection and the filter above an aggregation over another one."""
    plan, columns = made, list(values)
    for step in reversed(chain):
        if isinstance(step, Filter):
            plan = replace(step, input=plan, condition=substituted(step.condition, columns))
        else:
            shown = tuple(substituted(each, columns) for each in step.expressions)
            plan, columns = Project(plan, shown, step.names), []
    return plan
