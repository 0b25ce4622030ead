"""Operations on the order of rows as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.relational.expressions import AggregateCall, Expression, InputReference, Literal
from scurry.relational.physical.over import OverAggregate
from scurry.relational.windows import Frame, FrameBound

__all__ = ["over_aggregate_text"]


def over_aggregate_text(plan: OverAggregate) -> str:
    """Return an OVER aggregation as text."""
    names = plan.input.schema.names
    parts = []
    if plan.partition_by:
        parts.append(f"partitionBy=[{_columns(plan.partition_by, names)}]")
    parts.append(f"orderBy=[{names[plan.time]} ASC]")
    parts.append(f"window=[ {_frame(plan.frame)}]")
    calls = [f"{_aggregate(call.call, names)} AS {name}" for call, name in zip(plan.calls, plan.names, strict=True)]
    parts.append(f"select=[{', '.join([*names, *calls])}]")
    return f"OverAggregate({', '.join(parts)})"


def _columns(columns: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[column] for column in columns)


def _frame(frame: Frame) -> str:
    return f"{frame.units} BETWEEN {_bound(frame.lower)} AND {_bound(frame.upper)}"


def _bound(bound: FrameBound) -> str:
    return bound.kind if not isinstance(bound.distance, Literal) else f"{bound.distance.value} {bound.kind}"


def _aggregate(call: AggregateCall, names: Sequence[str]) -> str:
    arguments = ", ".join(_argument(each, names) for each in call.arguments) or "*"
    shown = f"{call.function}({'DISTINCT ' if call.distinct else ''}{arguments})"
    return shown if call.filter is None else f"{shown} FILTER {_argument(call.filter, names)}"


def _argument(expression: Expression, names: Sequence[str]) -> str:
    if isinstance(expression, InputReference):
        return names[expression.index]
    return str(expression.value) if isinstance(expression, Literal) else str(expression)
