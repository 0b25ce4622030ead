"""Aggregations of BATCH as text: in one phase or two, by hash or by order."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.functions.aggregate.catalogue import batch_state, properties_of
from scurry.sql.functions.aggregate.definition import BatchState
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.nodes import Aggregate
from scurry.sql.plan.physical.windows import GroupWindowAggregate
from scurry.sql.planner.explain.aggregates import call_text, state_parts
from scurry.sql.planner.explain.batch.estimates import is_mutable, rows
from scurry.sql.planner.explain.batch.exchanges import exchanged, sorted_rows
from scurry.sql.planner.explain.trees import Operator
from scurry.sql.planner.explain.windows import group_window_parts

#: Fewer rows than these are sorted rather than kept in a hash map.
_FEW = 1000


def aggregate_operator(plan: Aggregate, below: Operator) -> Operator:
    """Return the operators of an aggregation."""
    kind = "Hash" if _is_hashed(plan) else "Sort"
    keys, places = plan.keys, tuple(range(len(plan.keys)))
    is_there = below.distribution is not None and (
        bool(below.distribution) and set(below.distribution) <= set(keys) or below.distribution == ()
    )
    if is_there or not all(map(_merges, plan.calls)):
        rows_there = below if is_there else exchanged(below, keys)
        rows_there = sorted_rows(rows_there, keys) if kind == "Sort" else rows_there
        moved = rows_there.distribution or ()
        distribution = tuple(keys.index(each) for each in moved)
        return Operator(
            _text(f"{kind}Aggregate", plan, _whole(plan), False), plan, (rows_there,), distribution=distribution
        )
    rows_there = sorted_rows(below, keys) if kind == "Sort" else below
    local = Operator(_text(f"Local{kind}Aggregate", plan, _partial(plan)), plan, (rows_there,))
    names = [plan.input.schema.names[key] for key in keys]
    sent = exchanged(local, places, names)
    sent = sorted_rows(sent, places, names) if kind == "Sort" else sent
    return Operator(_text(f"{kind}Aggregate", plan, _final(plan), True), plan, (sent,), distribution=places)


def group_window_operator(plan: GroupWindowAggregate, below: Operator) -> Operator:
    """Return the operators of an aggregation of windows of GROUP BY."""
    keys, parts = [plan.input.schema.names[key] for key in plan.keys], group_window_parts(plan)
    places = tuple(range(len(keys)))

    def text(name: str, calls: Sequence[str]) -> str:
        return f"{name}({', '.join([*parts, f'select=[{_joined([*keys, *calls])}]'])})"

    if not all(map(_merges, plan.calls)):
        return Operator(text("HashWindowAggregate", _whole(plan)), plan, (exchanged(below, plan.keys),))
    local = Operator(text("LocalHashWindowAggregate", _partial(plan)), plan, (below,))
    sent = exchanged(local, places, keys)
    return Operator(text("HashWindowAggregate", _final(plan)), plan, (sent,), distribution=places)


def _is_hashed(plan: Aggregate) -> bool:
    if rows(plan.input) < _FEW and plan.keys:
        return False
    return all(_has_mutable_state(call) for call in plan.calls)


def _has_mutable_state(call: AggregateCall) -> bool:
    return isinstance(call.function, str) and batch_state(call.function) is BatchState.ROW and is_mutable(call.type)


def _merges(call: AggregateCall) -> bool:
    if not isinstance(call.function, str) or batch_state(call.function) is BatchState.WHOLE:
        return False
    return properties_of(call.function).mergeable


def _text(name: str, plan: Aggregate, calls: Sequence[str], merges: bool | None = None) -> str:
    keys = [plan.input.schema.names[key] for key in plan.keys]
    parts = [] if merges is None else [f"isMerge=[{str(merges).lower()}]"]
    parts += [f"groupBy=[{', '.join(keys)}]"] if keys else []
    return f"{name}({', '.join([*parts, f'select=[{_joined([*keys, *calls])}]'])})"


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(texts)


def _whole(plan: Aggregate | GroupWindowAggregate) -> list[str]:
    names = plan.input.schema.names
    return [f"{call_text(call, names)} AS {name}" for call, name in zip(plan.calls, plan.names, strict=True)]


def _partial(plan: Aggregate | GroupWindowAggregate) -> list[str]:
    names = plan.input.schema.names
    return [
        f"Partial_{call_text(call, names)} AS {states[0] if len(states) == 1 else f'({_joined(states)})'}"
        for call, states in zip(plan.calls, _states(plan), strict=True)
    ]


def _final(plan: Aggregate | GroupWindowAggregate) -> list[str]:
    return [
        f"Final_{call.function}({', '.join(states)}) AS {name}"
        for call, states, name in zip(plan.calls, _states(plan), plan.names, strict=True)
    ]


def _states(plan: Aggregate | GroupWindowAggregate) -> list[list[str]]:
    found, number = [], 0
    for call, name in zip(plan.calls, plan.names, strict=True):
        if call.function in ("COLLECT",):
            found.append([name])
            continue
        parts = state_parts(call, False)
        found.append([f"{part}${number + place}" for place, part in enumerate(parts)])
        number += len(parts)
    return found
