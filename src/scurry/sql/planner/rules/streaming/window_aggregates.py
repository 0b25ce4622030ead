"""Recognise window aggregates, which group by the start and end of a window, and session windows."""

from __future__ import annotations

from dataclasses import replace

from scurry.errors import ValidationError
from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.nodes import Aggregate, Filter, Plan, Project, WindowTable
from scurry.sql.plan.nodes.aggregates import set_numbers
from scurry.sql.plan.physical.windows import (
    SessionTable,
    WindowAggregate,
    WindowColumn,
    WindowProperties,
    window_of,
    window_properties,
)
from scurry.sql.plan.rewriting import input_references, remapped, with_parts

#: A plan below a window function, where the columns of the plan above it are in it, and its time column.
_Below = tuple[Plan, dict[int, int], int]


def window_aggregates(plan: Plan, session: EvaluationContext) -> Plan:
    """Make window aggregates of the aggregates that group by start and end of a window.

    Rows are assigned to windows by the operator that aggregates them, unless something uses the columns of the window
    before.
    """
    if isinstance(plan, Aggregate):
        found = _of_assigned_rows(plan)
        if found is not None:
            below = window_aggregates(found.input, session)
            return _in_order(replace(found, input=below), plan)
    plan = plan.with_inputs(tuple(window_aggregates(each, session) for each in plan.inputs))
    if isinstance(plan, WindowTable) and plan.kind == "SESSION":
        return SessionTable(plan.input, window_of(plan), plan.time, plan.partition_by or (), plan.window_schema)
    if isinstance(plan, Aggregate):
        attached = _of_attached_rows(plan)
        return plan if attached is None else _in_order(attached, plan)
    return plan


def _of_assigned_rows(plan: Aggregate) -> WindowAggregate | None:
    """Return an aggregate that assigns rows to windows itself, None if it is no such one."""
    properties = window_properties(plan.input)
    if properties is None or not _is_windowed(plan, properties):
        return None
    table = _table_below(plan.input)
    if not isinstance(table, WindowTable):
        return None
    if table.kind == "HOP" and table.partition_by is not None and table.slide and table.size % table.slide:
        raise ValidationError(
            "HOP table function based aggregate requires size must be an integral multiple of slide, "
            f"but got size {table.size} ms and slide {table.slide} ms"
        )
    check_merging(plan, table.kind)
    keys, columns = _split(plan, properties)
    if any(each in properties.columns for call in plan.calls for each in input_references(call)):
        return None
    found = _without_window(plan.input)
    if found is None:
        return None
    below, places, time = found
    if table.kind == "SESSION" and not plan.is_simple:
        return None
    if table.kind == "SESSION" and table.partition_by is not None:
        partition = {places.get(_above(plan.input, each), -1) for each in table.partition_by}
        if partition != {places[key] for key in keys}:
            return None
    calls = tuple(with_parts(call, lambda part: remapped(part, places)) for call in plan.calls)
    return WindowAggregate(
        below,
        properties.window,
        False,
        time,
        tuple(places[key] for key in keys),
        tuple(replace(each, position=None) for each in columns),
        calls,
        plan.names,
        _sets(plan, keys),
        set_numbers(plan.grouping_sets, len(plan.keys)),
        plan.grouping_id,
    )


def check_merging(plan: Aggregate, kind: str) -> None:
    """Raise Flink's error if states of slices or sessions cannot be merged.

    Raises:
        ValidationError: Flink has no merging of an aggregate.
    """
    if kind == "TUMBLE":
        return
    for call in plan.calls:
        if not properties_of(call.function).mergeable:
            raise ValidationError(
                f"Could not find an implementation method 'merge' for function '{call.function}': "
                f"windows of {kind} are merged"
            ).with_hint("aggregate in windows of TUMBLE")
        if kind == "HOP" and call.distinct and call.function == "SUM":
            raise ValidationError(
                "This function does not support retraction, Please choose SumWithRetractAggFunction. "
                "SUM(DISTINCT) in HOP is such one."
            )


def _of_attached_rows(plan: Aggregate) -> WindowAggregate | None:
    properties = window_properties(plan.input)
    if properties is None or not _is_windowed(plan, properties):
        return None
    if not properties.window.is_event_time:
        return None
    if properties.window.kind == "SESSION" and _table_below(plan.input) is not None:
        # Flink groups by such columns as by any others: it knows of no end of the windows of all keys.
        return None
    keys, columns = _split(plan, properties)
    end = properties.end_among(plan.keys)
    return WindowAggregate(
        plan.input,
        properties.window,
        True,
        end,
        keys,
        columns,
        plan.calls,
        plan.names,
        _sets(plan, keys),
        set_numbers(plan.grouping_sets, len(plan.keys)),
        plan.grouping_id,
    )


def _is_windowed(plan: Aggregate, properties: WindowProperties) -> bool:
    """Return whether every grouping set has start and end of the window."""
    return all(properties.is_grouped_by(tuple(plan.keys[each] for each in places)) for places in plan.grouping_sets)


def _split(plan: Aggregate, properties: WindowProperties) -> tuple[tuple[int, ...], tuple[WindowColumn, ...]]:
    names, schema = properties.columns, plan.input.schema
    columns = tuple(WindowColumn(names[key], schema[key], key) for key in plan.keys if key in names)
    return tuple(key for key in plan.keys if key not in names), columns


def _sets(plan: Aggregate, keys: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the grouping sets in terms of the keys that are no columns of the window."""
    return tuple(
        tuple(keys.index(plan.keys[each]) for each in places if plan.keys[each] in keys)
        for places in plan.grouping_sets
    )


def _in_order(changed: WindowAggregate, plan: Aggregate) -> Plan:
    """Return the columns of a window aggregate in the order of the aggregate that it was."""
    properties = window_properties(plan.input)
    assert properties is not None
    keys, columns = _split(plan, properties)
    places = [*keys, *(each.position for each in columns)]
    order = [*(places.index(key) for key in plan.keys), *range(len(places), len(plan.schema))]
    return builders.project(changed, [builders.column(changed, place) for place in order], plan.schema.names)


def _table_below(plan: Plan) -> WindowTable | SessionTable | None:
    while isinstance(plan, Filter | Project):
        plan = plan.input
    return plan if isinstance(plan, WindowTable | SessionTable) else None


def _above(plan: Plan, column: int) -> int:
    """Return where a column of the input of a window function is above it; -1 if it is not."""
    if isinstance(plan, WindowTable):
        return column
    assert isinstance(plan, Filter | Project)
    below = _above(plan.input, column)
    if isinstance(plan, Filter):
        return below
    places = [p for p, each in enumerate(plan.expressions) if isinstance(each, InputReference) and each.index == below]
    return places[0] if places else -1


def _without_window(plan: Plan) -> _Below | None:
    """Return a plan as it is without a window function below it; None if it uses the columns of the window."""
    if isinstance(plan, WindowTable):
        return plan.input, {index: index for index in range(len(plan.input.schema))}, plan.time
    assert isinstance(plan, Filter | Project)
    found = _without_window(plan.input)
    if found is None:
        return None
    below, places, time = found
    if isinstance(plan, Filter):
        if not input_references(plan.condition) <= set(places):
            return None
        return Filter(below, remapped(plan.condition, places)), places, time
    expressions: list[Expression] = []
    names: list[str] = []
    kept: dict[int, int] = {}
    for place, each in enumerate(plan.expressions):
        if input_references(each) <= set(places):
            kept[place] = len(expressions)
            expressions.append(remapped(each, places))
            names.append(plan.names[place])
        elif not isinstance(each, InputReference):
            return None
    expressions.append(builders.column(below, time))
    name = below.schema.names[time]
    return Project(below, tuple(expressions), (*names, "$time" if name in names else name)), kept, len(names)
