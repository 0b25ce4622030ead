"""Estimates of rows as Flink's planner makes them without statistics: which side of a join is kept, and how."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from scurry.sql.plan import nodes
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical.aggregates import Expand
from scurry.sql.types import (
    BigIntType,
    BooleanType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    YearMonthIntervalType,
)

#: The rows of a table of which nothing is known.
_TABLE = 1e8
#: The bytes of one side below which it is sent to every task: table.optimizer.join.broadcast-threshold.
_BROADCAST = 1_048_576
#: The bytes of a value beside its eight ones in a row, if it has no place of a fixed size.
_VARIABLE = 12

_FIXED = (
    BooleanType,
    TinyIntType,
    SmallIntType,
    IntType,
    BigIntType,
    FloatType,
    DoubleType,
    DateType,
    TimeType,
    DayTimeIntervalType,
    YearMonthIntervalType,
)

#: The share of rows for which a comparison is TRUE.
_SHARES = {"=": 0.15, "IS NULL": 0.1, "IS NOT NULL": 0.9, "LIKE": 0.05, "<>": 0.85}


def is_fixed(kind: DataType) -> bool:
    """Return whether the values of a type have a place of eight bytes in Flink's binary rows."""
    if isinstance(kind, DecimalType):
        return kind.precision <= 18
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        return kind.precision <= 3
    return isinstance(kind, _FIXED)


def is_mutable(kind: DataType) -> bool:
    """Return whether values of a type are replaced where they are: aggregates of such ones are kept in a hash map."""
    return is_fixed(kind) or isinstance(kind, DecimalType | TimestampType | LocalZonedTimestampType)


def size(plan: Plan) -> float:
    """Return how many bytes the rows of a plan have."""
    return rows(plan) * row_size(plan)


def row_size(plan: Plan) -> float:
    return 8.0 * (1 + (len(plan.schema) + 7) // 64) + sum(
        8 if is_fixed(each) else 8 + _VARIABLE for each in plan.schema.types
    )


def is_small(plan: Plan) -> bool:
    """Return whether the rows of a plan are sent to every task rather than exchanged."""
    return size(plan) <= _BROADCAST


def rows(plan: Plan) -> float:
    """Return how many rows a plan has."""
    estimate = _ESTIMATES.get(type(plan))
    if estimate is not None:
        return estimate(plan)
    return rows(plan.inputs[0]) if plan.inputs else _TABLE


def _aggregated(plan: nodes.Aggregate) -> float:
    if not plan.keys:
        return 1
    return rows(plan.input) * (1 - math.exp(-0.1 * len(plan.keys)))


def _joined(plan: nodes.Join) -> float:
    left, right = rows(plan.left), rows(plan.right)
    if plan.kind in ("SEMI", "ANTI"):
        return left * 0.5
    if plan.condition is None:
        return left * right
    return max(left, right)


def _limited(plan: nodes.Limit) -> float:
    found = max(0.0, rows(plan.input) - plan.offset)
    return found if plan.fetch is None else min(found, plan.fetch)


def _share(condition: Expression) -> float:
    if isinstance(condition, Literal):
        return 1.0 if condition.value else 0.0
    if not isinstance(condition, Call):
        return 0.5 if isinstance(condition, InputReference) else 0.25
    if condition.function == "AND":
        return math.prod(map(_share, condition.arguments))
    if condition.function == "OR":
        return 1 - math.prod(1 - _share(each) for each in condition.arguments)
    if condition.function == "NOT":
        return 1 - _share(condition.arguments[0])
    return _SHARES.get(condition.function, 0.5)


_ESTIMATES: dict[type[Plan], Callable[[Any], float]] = {
    nodes.Aggregate: _aggregated,
    nodes.Filter: lambda plan: rows(plan.input) * _share(plan.condition),
    nodes.Join: _joined,
    nodes.Limit: _limited,
    nodes.SetOperation: lambda plan: sum(map(rows, plan.inputs)),
    nodes.Values: lambda plan: float(len(plan.rows)),
    Expand: lambda plan: rows(plan.input) * len(plan.grouping_sets),
}
