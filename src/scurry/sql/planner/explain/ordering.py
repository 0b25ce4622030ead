"""Operations on the order of rows as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.plan.expressions import AggregateCall, Expression, InputReference, Literal
from scurry.sql.plan.nodes import SortKey
from scurry.sql.plan.physical.changes import ReplicateRows
from scurry.sql.plan.physical.over import OverAggregate
from scurry.sql.plan.physical.ranks import Deduplicate, Rank, TemporalSort
from scurry.sql.plan.windows import Frame, FrameBound
from scurry.sql.planner.explain.types import record_text
from scurry.sql.types.families import is_rowtime


def over_aggregate_text(plan: OverAggregate) -> str:
    """Return an OVER aggregation as text."""
    names = plan.input.schema.names
    parts = []
    if plan.partition_by:
        parts.append(f"partitionBy=[{_columns(plan.partition_by, names)}]")
    parts.append(f"orderBy=[{names[plan.time]} ASC]")
    parts.append(f"window=[ {frame_text(plan.frame)}]")
    calls = [f"{aggregate_text(call.call, names)} AS {name}" for call, name in zip(plan.calls, plan.names, strict=True)]
    parts.append(f"select=[{', '.join([*names, *calls])}]")
    return f"OverAggregate({', '.join(parts)})"


def rank_text(plan: Rank) -> str:
    """Return a rank, or ORDER BY and LIMIT, as text."""
    names = plan.input.schema.names
    if plan.is_limit:
        limits = f"offset=[{plan.start - 1}], fetch=[{plan.end - plan.start + 1}]"
        if not plan.order_by:
            return f"Limit({limits})"
        return f"SortLimit(orderBy=[{order_text(plan.order_by, names)}], {limits}, strategy=[{_strategy(plan)}])"
    shown = [f"ROWTIME {each.name}" if is_rowtime(each.type) else each.name for each in plan.input.schema]
    numbers = f"rankStart={plan.start}, rankEnd={plan.end}"
    if plan.end_column is not None:
        numbers = f"rankEnd={names[plan.end_column]}"
    return (
        f"Rank(strategy=[{_strategy(plan)}], rankType=[ROW_NUMBER], rankRange=[{numbers}], "
        f"partitionBy=[{_columns(plan.partition_by, names)}], orderBy=[{order_text(plan.order_by, shown)}], "
        f"select=[{', '.join(plan.schema.names)}])"
    )


def deduplicate_text(plan: Deduplicate) -> str:
    """Return a deduplication as text."""
    names = plan.input.schema.names
    keep = "LastRow" if plan.keep_last else "FirstRow"
    order = "ROWTIME" if plan.has_event_time else "PROCTIME"
    return (
        f"Deduplicate(keep=[{keep}], key=[{_columns(plan.keys, names)}], order=[{order}], "
        f"outputInsertOnly=[{str(not plan.keep_last).lower()}])"
    )


def rank_of_deduplicate_text(plan: Deduplicate) -> str:
    """Return a deduplication as the rank that it is before Flink chooses operators."""
    names = plan.input.schema.names
    time = f"{'ROWTIME ' if plan.has_event_time else ''}{names[plan.time]} {'DESC' if plan.keep_last else 'ASC'}"
    return (
        "Rank(strategy=[AppendFastStrategy], rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=1], "
        f"partitionBy=[{_columns(plan.keys, names)}], orderBy=[{time}], select=[{', '.join(names)}])"
    )


def replicate_text(plan: ReplicateRows) -> str:
    """Return rows that come several times as text."""
    if not plan.is_explained:
        return "Correlate(invocation=[$REPLICATE_ROWS])"
    names = plan.input.schema.names
    places = ", ".join(f"${place}" for place in range(len(names)))
    return (
        f"Correlate(invocation=[$REPLICATE_ROWS$1({places})], "
        f"correlate=[table($REPLICATE_ROWS$1({','.join(names)}))], select=[{','.join(plan.schema.names)}], "
        f"rowType=[{record_text(plan.schema)}], joinType=[INNER])"
    )


def temporal_sort_text(plan: TemporalSort) -> str:
    """Return sorting by time as text."""
    return f"TemporalSort(orderBy=[{order_text(plan.keys, plan.schema.names)}])"


def _strategy(plan: Rank) -> str:
    if plan.strategy != "UpdateFastStrategy":
        return plan.strategy
    return f"{plan.strategy}[{','.join(map(str, plan.update_key))}]"


def order_text(keys: Sequence[SortKey], names: Sequence[str]) -> str:
    """Return an order of columns with names as text."""
    return ", ".join(f"{names[key.index]} {'DESC' if key.descending else 'ASC'}" for key in keys)


def _columns(columns: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[column] for column in columns)


def frame_text(frame: Frame, units: str | None = None) -> str:
    """Return a frame as text, in other units if they are given."""
    return f"{units or frame.units} BETWEEN {_bound(frame.lower)} AND {_bound(frame.upper)}"


def _bound(bound: FrameBound) -> str:
    return bound.kind if not isinstance(bound.distance, Literal) else f"{bound.distance.value} {bound.kind}"


def aggregate_text(call: AggregateCall, names: Sequence[str]) -> str:
    """Return an aggregate of OVER as text."""
    arguments = ", ".join(_argument(each, names) for each in call.arguments) or "*"
    shown = f"{call.function}({'DISTINCT ' if call.distinct else ''}{arguments})"
    return shown if call.filter is None else f"{shown} FILTER {_argument(call.filter, names)}"


def _argument(expression: Expression, names: Sequence[str]) -> str:
    if isinstance(expression, InputReference):
        return names[expression.index]
    return str(expression.value) if isinstance(expression, Literal) else str(expression)
