"""Expressions as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from scurry.logical_types import (
    BinaryType,
    CharType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    SymbolType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from scurry.relational.expressions import (
    AggregateCall,
    Call,
    CorrelatedReference,
    Expression,
    InputReference,
    Literal,
    UserFunctionCall,
)
from scurry.relational.subqueries import Exists, QuantifiedSubquery, ScalarSubquery, Subquery
from scurry.relational.windows import FrameBound, WindowCall

__all__ = ["all_of_text", "expression_text", "texts"]

_EPOCH = datetime.datetime(1970, 1, 1)


def expression_text(expression: Expression, names: Sequence[str] | None = None) -> str:
    """Return an expression as text.

    Args:
        expression: The expression.
        names: Names of the columns it is over; None for columns by position, as `*($1, 2)`.
    """
    if isinstance(expression, InputReference):
        return f"${expression.index}" if names is None else names[expression.index]
    if isinstance(expression, CorrelatedReference):
        return f"$cor{expression.correlation}.${expression.index}"
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, AggregateCall):
        return _aggregate(expression, names)
    if isinstance(expression, WindowCall):
        return _window(expression, names)
    if isinstance(expression, Subquery):
        return _subquery(expression, names)
    if isinstance(expression, Call) and expression.function == "CAST":
        operand, kind = expression_text(expression.arguments[0], names), expression.type.as_summary_string()
        return f"CAST({operand}):{kind}" if names is None else f"CAST({operand} AS {kind.removesuffix(' NOT NULL')})"
    if isinstance(expression, Call):
        return f"{expression.function}({texts(expression.arguments, names)})"
    if isinstance(expression, UserFunctionCall):
        return f"{expression.name}({texts(expression.arguments, names)})"
    return str(expression)


def texts(expressions: Sequence[Expression], names: Sequence[str] | None = None) -> str:
    """Return expressions as text, with commas."""
    return ", ".join(expression_text(each, names) for each in expressions)


def all_of_text(conditions: Sequence[str]) -> str:
    """Return the text of a condition that is TRUE if some are."""
    return f"AND({', '.join(conditions)})" if len(conditions) > 1 else "".join(conditions) or "true"


def _literal(literal: Literal) -> str:
    value, kind = literal.value, literal.type
    if value is None:
        return f"null:{kind.nullable().as_summary_string()}"
    if isinstance(kind, CharType | VarCharType):
        return f"_UTF-16LE'{value}'"
    if isinstance(kind, SymbolType):
        return f"FLAG({value})"
    if isinstance(kind, BinaryType | VarBinaryType):
        return f"X'{value.hex().upper()}'"
    if isinstance(kind, DateType):
        return str((_EPOCH + datetime.timedelta(days=value)).date())
    if isinstance(kind, TimeType):
        return str((_EPOCH + datetime.timedelta(milliseconds=value)).time())
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        unit = {3: 1_000, 6: 1, 9: 0.001}[3 if kind.precision <= 3 else 6 if kind.precision <= 6 else 9]
        return str(_EPOCH + datetime.timedelta(microseconds=value * unit))
    if isinstance(kind, YearMonthIntervalType | DayTimeIntervalType):
        return f"{value}:{kind.not_null().as_summary_string().removesuffix(' NOT NULL')}"
    if isinstance(value, bool):
        return str(value).lower()
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _aggregate(call: AggregateCall, names: Sequence[str] | None) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    shown = f"{call.function}({distinct}{texts(call.arguments, names)})"
    return shown if call.filter is None else f"{shown} FILTER {expression_text(call.filter, names)}"


def _window(call: WindowCall, names: Sequence[str] | None) -> str:
    parts = []
    if call.partition_by:
        parts.append(f"PARTITION BY {texts(call.partition_by, names)}")
    if call.order_by:
        keys = (f"{expression_text(key.expression, names)}{_direction(key)}" for key in call.order_by)
        parts.append(f"ORDER BY {', '.join(keys)}")
    frame = call.frame
    if (frame.lower.kind, frame.upper.kind) != ("UNBOUNDED PRECEDING", "CURRENT ROW") or frame.units == "ROWS":
        parts.append(f"{frame.units} BETWEEN {_bound(frame.lower)} AND {_bound(frame.upper)}")
    return f"{_aggregate(call.call, names)} OVER ({' '.join(parts)})"


def _bound(bound: FrameBound) -> str:
    return bound.kind if bound.distance is None else f"{expression_text(bound.distance)} {bound.kind}"


def _direction(key: Any) -> str:
    nulls = "FIRST" if key.nulls_first else "LAST"
    return f"{' DESC' if key.descending else ''} NULLS {nulls}"


def _subquery(subquery: Subquery, names: Sequence[str] | None) -> str:
    from scurry.relational.explain.logical import plan_text

    tree = plan_text(subquery.plan)
    if isinstance(subquery, Exists):
        return f"EXISTS({{\n{tree}\n}})"
    if isinstance(subquery, QuantifiedSubquery):
        name = "IN" if subquery.operator == "=" else f"{subquery.operator} SOME"
        return f"{name}({texts(subquery.operands, names)}, {{\n{tree}\n}})"
    assert isinstance(subquery, ScalarSubquery)
    return f"$SCALAR_QUERY({{\n{tree}\n}})"
