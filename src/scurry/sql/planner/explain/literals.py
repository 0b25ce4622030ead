"""Constants as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from scurry.common._epoch import date_of_days, datetime_of_micros, time_of_millis
from scurry.sql import types
from scurry.sql.plan.expressions import Literal
from scurry.sql.planner.explain.types import type_text

#: Types that are not those of their constants, and are written behind them.
_TYPED = (
    types.TinyIntType,
    types.SmallIntType,
    types.BigIntType,
    types.FloatType,
    types.DoubleType,
    types.DecimalType,
    types.BinaryType,
    types.VarBinaryType,
)
_UNIT = re.compile(r"'\s*(\w+)(?:\s*\([\d\s,]*\))?(?:\s+TO\s+(\w+).*)?$", re.IGNORECASE)
_MILLISECONDS = {"DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000}


def literal_text(literal: Literal, with_type: bool = True) -> str:
    """Return a constant as text.

    Args:
        with_type: Whether types that its text does not say are behind it, and the character set before texts.
    """
    value, kind = literal.value, literal.type
    if value is None:
        return f"null:{type_text(kind, with_type)}"
    if isinstance(kind, types.CharType | types.VarCharType):
        return _characters(value, kind, with_type)
    if isinstance(kind, types.SymbolType):
        return f"FLAG({value})" if with_type else str(value)
    if isinstance(kind, types.YearMonthIntervalType | types.DayTimeIntervalType):
        return interval_text(value, _unit(literal))
    shown = _plain(value, kind)
    if not with_type:
        return shown
    if isinstance(kind, _TYPED):
        return f"{shown}:{type_text(kind)}"
    if isinstance(kind, types.TimestampType | types.LocalZonedTimestampType) and kind.precision:
        return f"{shown}:{type_text(kind)}"
    return shown


def value_text(literal: Literal) -> str:
    """Return a constant of a row that is written in the query: without its type."""
    value, kind = literal.value, literal.type
    if value is None or isinstance(kind, types.SymbolType | types.YearMonthIntervalType | types.DayTimeIntervalType):
        return literal_text(literal)
    if isinstance(kind, types.CharType | types.VarCharType):
        return f"_UTF-16LE'{value}'"
    return _plain(value, kind)


def interval_text(value: int, unit: str | None = None) -> str:
    """Return an interval as text.

    Args:
        value: Its milliseconds, or months.
        unit: The unit that it is written in; None for the longest of which it has a whole number.
    """
    found = unit or next((name for name, length in _MILLISECONDS.items() if value and value % length == 0), "SECOND")
    return f"{value}:INTERVAL {found}"


def _unit(literal: Literal) -> str | None:
    """Return the unit of an interval that is written in the statement; its type has only the smallest one."""
    found = None if literal.span is None else _UNIT.search(literal.span.source)
    if found is None:
        return "MONTH" if isinstance(literal.type, types.YearMonthIntervalType) else None
    start = found[1].upper().removesuffix("S")
    return f"{start} TO {found[2].upper()}" if found[2] else start


def _characters(value: str, kind: types.CharType | types.VarCharType, with_type: bool) -> str:
    if not with_type:
        return f"'{value}'"
    return f"_UTF-16LE'{value}'" + (f":{type_text(kind)}" if isinstance(kind, types.VarCharType) else "")


def _plain(value: Any, kind: types.DataType) -> str:
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(kind, types.DateType):
        return str(date_of_days(value))
    if isinstance(kind, types.TimeType):
        return str(time_of_millis(value))
    if isinstance(kind, types.TimestampType | types.LocalZonedTimestampType):
        micros = value * 1_000 if kind.precision <= 3 else value if kind.precision <= 6 else value // 1_000
        return str(datetime_of_micros(micros))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return _approximate(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _approximate(value: float) -> str:
    """Return a number with one digit before its point and an exponent, as `1.5E0`; NaN and infinity as Java does."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    digits, exponent = f"{Decimal(repr(value)).normalize():E}".split("E")
    return f"{digits}E{int(exponent)}"
