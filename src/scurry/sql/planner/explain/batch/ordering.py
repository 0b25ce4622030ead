"""Orders of rows in BATCH as text: sorting, limits, and OVER."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Limit, Over, Sort, SortKey
from scurry.sql.plan.windows import WindowCall
from scurry.sql.planner.explain.batch.exchanges import exchanged, ordered
from scurry.sql.planner.explain.ordering import aggregate_text, frame_text, order_text
from scurry.sql.planner.explain.trees import Operator


def sort_operator(plan: Sort, below: Operator) -> Operator:
    """Return the operators that sort all rows."""
    rows = exchanged(below, ())
    return Operator(f"Sort(orderBy=[{order_text(plan.keys, plan.schema.names)}])", plan, (rows,), distribution=())


def limit_operator(plan: Limit, below: Operator) -> Operator:
    """Return the operators that keep some rows: those of each task, and of them those of all."""
    order = ""
    if isinstance(plan.input, Sort):
        order = f"orderBy=[{order_text(plan.input.keys, plan.schema.names)}], "
    name = "SortLimit" if order else "Limit"
    rows = below
    if below.distribution != ():
        if plan.fetch is not None:
            whole = f"{name}({order}offset=[0], fetch=[{plan.offset + plan.fetch}], global=[false])"
            rows = Operator(whole, plan, (below,), distribution=below.distribution)
        rows = exchanged(rows, ())
    fetch = "" if plan.fetch is None else f", fetch=[{plan.fetch}]"
    return Operator(f"{name}({order}offset=[{plan.offset}]{fetch}, global=[true])", plan, (rows,), distribution=())


def over_operator(plan: Over, below: Operator) -> Operator:
    """Return the operators of aggregates over the rows around each row: one for each order of partitions."""
    rows, names = below, list(plan.input.schema.names)
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, call in enumerate(plan.calls):
        groups.setdefault((call.partition_by, call.order_by), []).append(place)
    for places in groups.values():
        calls = [(plan.calls[place], plan.names[place]) for place in places]
        partition = sorted(each.index for each in calls[0][0].partition_by if isinstance(each, InputReference))
        order = [
            SortKey(each.expression.index, each.descending, each.nulls_first)
            for each in calls[0][0].order_by
            if isinstance(each.expression, InputReference)  # constants put no rows in order
        ]
        if rows.distribution != tuple(partition):
            rows = exchanged(rows, partition, names)
        keys = [*(SortKey(key) for key in partition), *order]
        rows = ordered(rows, keys, names) if keys else rows
        shown = _over_parts(partition, order, calls, names)
        names += [name for _, name in calls]
        text = f"OverAggregate({', '.join([*shown, _selected(names)])})"
        rows = Operator(text, plan, (rows,), distribution=rows.distribution)
    return rows


def _selected(names: Sequence[str]) -> str:
    return f"select=[{', '.join(names)}]"


def _over_parts(
    partition: Sequence[int], order: Sequence[SortKey], calls: Sequence[tuple[WindowCall, str]], names: Sequence[str]
) -> list[str]:
    parts = [f"partitionBy=[{', '.join(names[key] for key in partition)}]"] if partition else []
    parts += [f"orderBy=[{order_text(order, names)}]"] if order else []
    frames: dict[str, list[str]] = {}
    for call, name in calls:
        units = "ROWS" if call.call.function == "ROW_NUMBER" else call.frame.units
        shown = f"{aggregate_text(call.call, names)} AS {name}"
        frames.setdefault(frame_text(call.frame, units), []).append(shown)
    return [
        *parts,
        *(f"window#{number}=[{', '.join(shown)} {frame}]" for number, (frame, shown) in enumerate(frames.items())),
    ]
