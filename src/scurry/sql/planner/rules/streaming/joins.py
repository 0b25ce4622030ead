"""Translate joins to regular, interval, temporal, lookup and window joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.advice import time_attribute_of
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.join_keys import conjuncts, split_condition
from scurry.sql.plan.nodes import Filter, Join, Plan, Project, Scan, TemporalJoin
from scurry.sql.plan.physical.joins import (
    EventTimeTemporalJoin,
    IntervalJoin,
    JoinKey,
    LookupJoin,
    RegularJoin,
    WindowJoin,
)
from scurry.sql.plan.physical.windows import Window, WindowProperties, window_properties
from scurry.sql.plan.rewriting import input_references, substituted
from scurry.sql.planner.rules.streaming.versions import versions_condition
from scurry.sql.planner.rules.time_attributes import time_bounds
from scurry.sql.planner.unique_keys import unique_keys, upsert_keys
from scurry.sql.types.families import is_proctime, is_rowtime


def temporal_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Make physical joins of joins with versions.

    Raises:
        ValidationError: Flink refuses the join.
    """
    plan = plan.with_inputs(tuple(temporal_joins(each, session) for each in plan.inputs))
    if not isinstance(plan, TemporalJoin):
        return plan
    found = _temporal_join(plan)
    if session.is_explained and isinstance(found, EventTimeTemporalJoin):
        return replace(found, written=versions_condition(plan, found))
    return found


def _temporal_join(plan: TemporalJoin) -> Plan:
    if plan.kind not in ("INNER", "LEFT"):
        raise ValidationError(f"Unknown join type {plan.kind}")
    kind = plan.period.type
    if not isinstance(plan.period, InputReference) or not (is_rowtime(kind) or is_proctime(kind)):
        raise ValidationError(
            "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field"
        ).with_hint(
            time_attribute_of(plan.left, plan.period.index)
            if isinstance(plan.period, InputReference)
            else "write a column of the left table that has a watermark, or is PROCTIME()"
        )
    keys, rest = join_keys(plan)
    if not keys:
        raise ValidationError("Currently the join key in Temporal Table Join can not be empty.")
    if is_proctime(kind):
        found = lookup_join(plan, keys, rest)
        if found is not None:
            return found
    if not unique_keys(plan.right):
        raise ValidationError(
            "Temporal Table Join requires primary key in versioned table, but no primary key can be found."
        )
    _check_compared(plan, keys)
    if is_proctime(kind):
        raise UnsupportedError("Processing-time temporal join is not supported yet.")
    return EventTimeTemporalJoin(plan.left, plan.right, plan.kind, keys, rest, plan.period.index, _version_time(plan))


def join_keys(plan: Join | TemporalJoin) -> tuple[tuple[JoinKey, ...], Expression | None]:
    """Return the columns that a join compares, and the rest of its condition."""
    equal, rest = split_condition(plan.condition, len(plan.left.schema))
    keys = []
    for each in equal:
        assert isinstance(each.left, InputReference) and isinstance(each.right, InputReference)
        keys.append(JoinKey(each.left.index, each.right.index, each.null_equals_null))
    return tuple(keys), rest


def _check_compared(plan: TemporalJoin, keys: tuple[JoinKey, ...]) -> None:
    found = unique_keys(plan.right)
    compared = {key.right for key in keys}
    if not any(key <= compared for key in found):
        left, right = plan.left.schema.names, plan.right.schema.names
        shortest = min(found, key=lambda each: len(each))
        key = ", ".join(right[column] for column in sorted(shortest))
        shown = ", ".join(f"{left[each.left]}={right[each.right]}" for each in keys)
        raise ValidationError(
            f"Temporal table's primary key [{key}] must be included in the equivalence condition of temporal join, "
            f"but current temporal join condition is [{shown}]."
        )


def _version_time(plan: TemporalJoin) -> int:
    types = plan.right.schema.types
    found = next((place for place, each in enumerate(types) if is_rowtime(each)), None)
    if found is None:
        raise ValidationError(
            "Event-Time Temporal Table Join requires both primary key and row time attribute in versioned table, "
            "but no row time attribute can be found."
        )
    left, right = plan.period.type.nullable(), types[found].nullable()
    if left != right:
        raise ValidationError(
            "Event-Time Temporal Table Join requires same rowtime type in left table and versioned table, but the "
            f"rowtime types are {left.as_summary_string()} and {right.as_summary_string()}."
        )
    return found


def window_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Make window joins of joins of which start and end of the same windows are equal.

    Raises:
        ValidationError: Flink refuses the join.
    """
    plan = plan.with_inputs(tuple(window_joins(each, session) for each in plan.inputs))
    found = _window_join(plan) if isinstance(plan, Join) else plan
    if not isinstance(found, WindowJoin) or found is plan or not session.is_explained:
        return found
    assert isinstance(plan, Join)
    others = [each for each in conjuncts(plan.condition) if not _compares_windows(each, found)]
    return replace(found, written=all_of(others, session))


def _window_join(plan: Join) -> Plan:
    left, right = window_properties(plan.left), window_properties(plan.right)
    if left is None or right is None or _assignment(left) != _assignment(right):
        return plan
    keys, rest = join_keys(plan)
    bounds = {}
    for key in keys:
        column = left.columns.get(key.left)
        if column in ("start", "end") and column == right.columns.get(key.right):
            bounds[column] = key
    if len(bounds) != 2:
        return plan
    others = tuple(key for key in keys if key not in bounds.values())
    start, end = bounds["start"], bounds["end"]
    if not left.window.is_event_time:
        raise ValidationError("Processing time Window Join is not supported yet.")
    bounds_of_left, bounds_of_right = (start.left, end.left), (start.right, end.right)
    return WindowJoin(plan.left, plan.right, plan.kind, others, rest, left.window, bounds_of_left, bounds_of_right)


def _compares_windows(condition: Expression, found: WindowJoin) -> bool:
    """Return whether a condition compares the bounds of the windows of both sides."""
    width = len(found.left.schema)
    pairs = zip(found.left_window, found.right_window, strict=True)
    return input_references(condition) in [{left, width + right} for left, right in pairs]


def _assignment(properties: WindowProperties) -> Window:
    """Return how times belong to windows, whichever column they are of."""
    window = properties.window
    return replace(window, time=window.time.nullable())


def interval_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Make interval joins of joins that bound the difference of two time attributes from both sides.

    Raises:
        ValidationError: Flink refuses the join.
    """
    plan = plan.with_inputs(tuple(interval_joins(each, session) for each in plan.inputs))
    if not isinstance(plan, Join) or plan.kind in ("SEMI", "ANTI"):
        return plan
    found = _interval_join(plan)
    is_shown = session.is_explained and isinstance(found, IntervalJoin)
    return replace(found, written=plan.condition) if is_shown else found  # type: ignore[call-arg]


def _interval_join(plan: Join) -> Plan:
    found = time_bounds(plan)
    bounds = list(found.values())
    lower = [each.distance + (each.operator == ">") for each in bounds if each.operator in (">", ">=", "=")]
    upper = [each.distance - (each.operator == "<") for each in bounds if each.operator in ("<", "<=", "=")]
    if len(lower) != 1 or len(upper) != 1 or len({(each.left, each.right) for each in bounds}) != 1:
        return plan
    left, right = bounds[0].left, bounds[0].right
    types = (*plan.left.schema.types, *plan.right.schema.types)
    event_time = is_rowtime(plan.left.schema[left].type)
    if not event_time and any(map(is_rowtime, types)):
        raise ValidationError(
            "Interval join with proctime attribute requires no event-time attributes are in the join inputs."
        )
    others = all_of([each for each in conjuncts(plan.condition) if each not in found], EvaluationContext())
    keys, rest = join_keys(Join(plan.left, plan.right, plan.kind, others))
    return IntervalJoin(plan.left, plan.right, plan.kind, keys, rest, left, right, lower[0], upper[0], event_time)


def lookup_join(plan: TemporalJoin, keys: Sequence[JoinKey], rest: Expression | None) -> LookupJoin | None:
    """Return a join that asks the table of the right side by key; None if the right side is not of one table.

    Whether the table can be asked is known when its source is made.
    """
    found = _over_table(plan.right)
    if found is None:
        return None
    table, columns, conditions = found
    asked = []
    for key in keys:
        column = columns[key.right]
        if not isinstance(column, InputReference) or key.null_equals_null:
            return None
        asked.append((key.left, column.index))
    condition = all_of(conditions, EvaluationContext())
    schema = plan.right.schema
    return LookupJoin(plan.left, plan.kind, table, tuple(asked), condition, tuple(columns), schema, rest, plan.retry)


def _over_table(plan: Plan) -> tuple[Scan, list[Expression], list[Expression]] | None:
    """Return the table of a plan, and the columns and conditions of the plan over the table's columns."""
    if isinstance(plan, Scan):
        return plan, list(builders.columns(plan)), []
    if not isinstance(plan, Project | Filter):
        return None
    found = _over_table(plan.input)
    if found is None:
        return None
    table, columns, conditions = found
    if isinstance(plan, Project):
        return table, [substituted(each, columns) for each in plan.expressions], conditions
    return table, columns, [*conditions, substituted(plan.condition, columns)]


def regular_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Make physical joins of the joins that no other rule has recognised."""
    plan = plan.with_inputs(tuple(regular_joins(each, session) for each in plan.inputs))
    if not isinstance(plan, Join):
        return plan
    found = _regular_join(plan)
    return replace(found, written=plan.condition) if session.is_explained else found


def _regular_join(plan: Join) -> RegularJoin:
    keys, rest = join_keys(plan)
    left, right = _unique(plan.left, [key.left for key in keys]), _unique(plan.right, [key.right for key in keys])
    return RegularJoin(plan.left, plan.right, plan.kind, keys, rest, left, right, plan.state_ttl)


def _unique(plan: Plan, keys: list[int]) -> tuple[int, ...] | None:
    """Return the columns that identify a row among those with the same join key, or None."""
    found = upsert_keys(plan)
    if not found:
        return None
    if any(key.issubset(keys) for key in found):
        return ()
    return min((tuple(sorted(key)) for key in found), key=lambda key: (len(key), key))
