"""Constants as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from decimal import Decimal

from scurry.common._epoch import date_of_days, datetime_of_micros, time_of_millis
from scurry.sql.plan.expressions import Literal
from scurry.sql.types import (
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

__all__ = ["literal_text"]


def literal_text(literal: Literal) -> str:
    """Return a constant as text."""
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
        return str(date_of_days(value))
    if isinstance(kind, TimeType):
        return str(time_of_millis(value))
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        micros = value * 1_000 if kind.precision <= 3 else value if kind.precision <= 6 else value // 1_000
        return str(datetime_of_micros(micros))
    if isinstance(kind, YearMonthIntervalType | DayTimeIntervalType):
        return f"{value}:{kind.not_null().as_summary_string().removesuffix(' NOT NULL')}"
    if isinstance(value, bool):
        return str(value).lower()
    return format(value, "f") if isinstance(value, Decimal) else str(value)
