"""Prune columns that nothing uses, down to the scans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.models import VectorSearch
from scurry.sql.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Over,
    Plan,
    Project,
    Scan,
    SetOperation,
    Sort,
    SortKey,
    TemporalJoin,
    Unnest,
    Values,
    WindowTable,
)
from scurry.sql.plan.rewriting import input_references, remapped, with_parts
from scurry.sql.plan.schema import Schema
from scurry.sql.plan.windows import WindowCall
from scurry.sql.planner.unique_keys import unique_keys
from scurry.sql.types.families import is_rowtime

# A plan with some of the columns, and where the columns of the original are in it.
Pruned = tuple[Plan, dict[int, int]]


def prune_columns(plan: Plan, session: EvaluationContext) -> Plan:
    """Read and compute only the columns that the result needs."""
    pruned, places = _pruned(plan, set(range(len(plan.schema))))
    return _selected(pruned, [places[index] for index in range(len(plan.schema))], plan.schema.names)


def _pruned(plan: Plan, needed: set[int]) -> Pruned:
    handler = _HANDLERS.get(type(plan))
    if handler is not None:
        return handler(plan, needed)
    inputs = tuple(prune_columns(each, EvaluationContext()) for each in plan.inputs)
    return plan.with_inputs(inputs), {index: index for index in range(len(plan.schema))}


def _selected(plan: Plan, indices: Sequence[int], names: Sequence[str]) -> Plan:
    return builders.project(plan, [builders.column(plan, index) for index in indices], names)


def _used(expressions: Iterable[Expression]) -> set[int]:
    return set().union(*(input_references(each) for each in expressions))


def _scan(plan: Scan, needed: set[int]) -> Pruned:
    kept = sorted(needed) or [0]
    if not plan.columns:
        return plan, {}
    places = {index: place for place, index in enumerate(kept)}
    return replace(plan, columns=tuple(plan.columns[index] for index in kept)), places


def _project(plan: Project, needed: set[int]) -> Pruned:
    kept = sorted(needed) or list(range(min(len(plan.expressions), 1)))
    expressions = [plan.expressions[index] for index in kept]
    below, moved = _pruned(plan.input, _used(expressions))
    changed = Project(below, tuple(remapped(each, moved) for each in expressions), tuple(plan.names[i] for i in kept))
    return changed, {index: place for place, index in enumerate(kept)}


def _filter(plan: Filter, needed: set[int]) -> Pruned:
    used = input_references(plan.condition)
    below, places = _pruned(plan.input, needed | used)
    changed: Plan = Filter(below, remapped(plan.condition, places))
    return _without_unneeded(changed, places, needed)


def _without_unneeded(plan: Plan, places: dict[int, int], needed: set[int]) -> Pruned:
    """Drop columns that were only needed below."""
    kept = sorted(needed)
    if not kept or len(kept) == len(plan.schema):
        return plan, places
    indices = [places[index] for index in kept]
    changed = _selected(plan, indices, [plan.schema.names[index] for index in indices])
    return changed, {index: place for place, index in enumerate(kept)}


def _join(plan: Join, needed: set[int]) -> Pruned:
    width = len(plan.left.schema)
    used = needed | (input_references(plan.condition) if plan.condition is not None else set())
    left, in_left = _pruned(plan.left, {index for index in used if index < width})
    right, in_right = _pruned(plan.right, {index - width for index in used if index >= width})
    offset = len(left.schema)
    places = {**in_left, **{index + width: place + offset for index, place in in_right.items()}}
    condition = None if plan.condition is None else remapped(plan.condition, places)
    changed = replace(plan, left=left, right=right, condition=condition)
    if plan.kind in ("SEMI", "ANTI"):
        places = in_left
    return _without_unneeded(changed, places, needed)


def _temporal_join(plan: TemporalJoin, needed: set[int]) -> Pruned:
    """Keep the columns that make the right side a versioned table: its time and its key."""
    width = len(plan.left.schema)
    used = needed | input_references(plan.period) | (input_references(plan.condition) if plan.condition else set())
    versioned = {index for index, each in enumerate(plan.right.schema.types) if is_rowtime(each)}
    versioned |= set().union(*unique_keys(plan.right))
    left, in_left = _pruned(plan.left, {index for index in used if index < width})
    right, in_right = _pruned(plan.right, {index - width for index in used if index >= width} | versioned)
    offset = len(left.schema)
    places = {**in_left, **{index + width: place + offset for index, place in in_right.items()}}
    condition = None if plan.condition is None else remapped(plan.condition, places)
    period = remapped(plan.period, places)
    changed = replace(plan, left=left, right=right, condition=condition, period=period)
    return _without_unneeded(changed, places, needed)


def _aggregate(plan: Aggregate, needed: set[int]) -> Pruned:
    first = len(plan.schema) - len(plan.calls)
    kept = [place for place in range(len(plan.calls)) if first + place in needed]
    calls = [plan.calls[place] for place in kept]
    below, moved = _pruned(plan.input, set(plan.keys) | _used(calls))
    changed = replace(
        plan,
        input=below,
        keys=tuple(moved[key] for key in plan.keys),
        calls=tuple(with_parts(each, lambda part: remapped(part, moved)) for each in calls),
        names=tuple(plan.names[place] for place in kept),
    )
    places = {index: index for index in range(first)}
    places.update({first + place: first + new for new, place in enumerate(kept)})
    return changed, places


def _over(plan: Over, needed: set[int]) -> Pruned:
    width = len(plan.input.schema)
    kept = [place for place in range(len(plan.calls)) if width + place in needed]
    calls = [plan.calls[place] for place in kept]
    used = {index for index in needed if index < width} | _used(calls)
    below, moved = _pruned(plan.input, used | _key_of_ranks(plan, calls))
    if not calls:
        return below, moved
    offset = len(below.schema)
    changed = Over(below, tuple(remapped(each, moved) for each in calls), tuple(plan.names[place] for place in kept))  # type: ignore[misc]
    return changed, {**moved, **{width + place: offset + new for new, place in enumerate(kept)}}


def _key_of_ranks(plan: Over, calls: Sequence[WindowCall]) -> frozenset[int]:
    """Return columns that identify a row among those that are numbered: Top-N knows by them which is updated."""
    if [each.call.function for each in calls] != ["ROW_NUMBER"]:
        return frozenset()
    partition = {each.index for each in calls[0].partition_by if isinstance(each, InputReference)}
    keys = [key for key in unique_keys(plan.input) if partition <= key]
    return min(keys, key=sorted, default=frozenset())


def _sort(plan: Sort, needed: set[int]) -> Pruned:
    below, places = _pruned(plan.input, needed | {key.index for key in plan.keys})
    keys = tuple(SortKey(places[key.index], key.descending, key.nulls_first) for key in plan.keys)
    return _without_unneeded(Sort(below, keys), places, needed)


def _limit(plan: Limit, needed: set[int]) -> Pruned:
    below, places = _pruned(plan.input, needed)
    return replace(plan, input=below), places


def _set_operation(plan: SetOperation, needed: set[int]) -> Pruned:
    everything = set(range(len(plan.schema)))
    kept = sorted(needed if plan.kind == "UNION" and plan.all and needed else everything)
    branches = []
    for branch in plan.branches:
        below, places = _pruned(branch, set(kept))
        branches.append(_selected(below, [places[index] for index in kept], [branch.schema.names[i] for i in kept]))
    changed = replace(plan, branches=tuple(branches), row_schema=plan.row_schema.select(kept))
    return changed, {index: place for place, index in enumerate(kept)}


def _values(plan: Values, needed: set[int]) -> Pruned:
    kept = sorted(needed) or list(range(len(plan.schema)))
    rows = tuple(tuple(row[index] for index in kept) for row in plan.rows)
    return Values(plan.row_schema.select(kept), rows), {index: place for place, index in enumerate(kept)}


def _unnest(plan: Unnest, needed: set[int]) -> Pruned:
    width = len(plan.input.schema)
    compared = set() if plan.condition is None else input_references(plan.condition)
    used = {index for index in needed | compared if index < width} | input_references(plan.collection)
    below, moved = _pruned(plan.input, used)
    offset = len(below.schema)
    places = {**moved, **{index: index - width + offset for index in range(width, len(plan.schema))}}
    condition = None if plan.condition is None else remapped(plan.condition, places)
    return replace(plan, input=below, collection=remapped(plan.collection, moved), condition=condition), places


def _search(plan: VectorSearch, needed: set[int]) -> Pruned:
    width, added = len(plan.input.schema), len(plan.right.schema)
    below, moved = _pruned(plan.input, {index for index in needed if index < width} | input_references(plan.query))
    used = {index - width for index in needed if width <= index < width + added} | {plan.column}
    right, places = _pruned(plan.right, used)
    names = {place: plan.function_schema[index] for index, place in places.items()}
    columns = [names[place] for place in range(len(right.schema))]
    has_score = plan.has_score and width + added in needed
    columns += [plan.function_schema[added]] if has_score else []
    changed = replace(
        plan,
        input=below,
        query=remapped(plan.query, moved),
        right=right,
        column=places[plan.column],
        function_schema=Schema(tuple(columns)),
    )
    offset = len(below.schema)
    found = {**moved, **{index + width: place + offset for index, place in places.items()}}
    return changed, {**found, width + added: offset + len(right.schema)} if has_score else found


def _window_table(plan: WindowTable, needed: set[int]) -> Pruned:
    width, windows = len(plan.input.schema), range(len(plan.input.schema), len(plan.schema))
    keys = plan.partition_by or ()
    below, moved = _pruned(plan.input, {index for index in needed if index < width} | {plan.time, *keys})
    partition_by = None if plan.partition_by is None else tuple(moved[key] for key in keys)
    changed = replace(plan, input=below, time=moved[plan.time], partition_by=partition_by)
    offset = len(below.schema) - width
    return changed, {**moved, **{index: index + offset for index in windows}}


_HANDLERS: dict[type, Callable[[Any, set[int]], Pruned]] = {
    Scan: _scan,
    Project: _project,
    Filter: _filter,
    Join: _join,
    TemporalJoin: _temporal_join,
    Aggregate: _aggregate,
    Over: _over,
    Sort: _sort,
    Limit: _limit,
    SetOperation: _set_operation,
    Values: _values,
    Unnest: _unnest,
    VectorSearch: _search,
    WindowTable: _window_table,
}
