"""Intervals: types and values of their literals."""

from __future__ import annotations

import re

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.calls import converted
from scurry.sql.plan.expressions import Expression
from scurry.sql.syntax import nodes
from scurry.sql.types import DataType, DayTimeIntervalType, TimestampType, YearMonthIntervalType

_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MILLISECONDS = {"WEEK": 604_800_000, "DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000}
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")


def interval_type(qualifier: nodes.IntervalQualifier, nullable: bool = False) -> DataType:
    start, end = qualifier.start, qualifier.end
    if start in _MONTHS:
        resolution = YearMonthIntervalType.YearMonthResolution
        if start == "MONTH" or start == "QUARTER":
            return YearMonthIntervalType(resolution.MONTH, nullable=nullable)
        precision = qualifier.precision or YearMonthIntervalType.DEFAULT_PRECISION
        return YearMonthIntervalType(resolution.YEAR_TO_MONTH if end else resolution.YEAR, precision, nullable)
    first = "DAY" if start == "WEEK" else start
    name = first if end is None or end == first else f"{first}_TO_{end}"
    of_days = qualifier.precision if first == "DAY" else None  # that of other units is only the literal's
    days = of_days or DayTimeIntervalType.DEFAULT_DAY_PRECISION
    fraction = qualifier.fractional_precision
    return DayTimeIntervalType(
        getattr(DayTimeIntervalType.DayTimeResolution, name),
        days,
        DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION if fraction is None else fraction,
        nullable,
    )


def interval_value(literal: nodes.IntervalLiteral) -> int | None:
    """Return months or milliseconds of a literal, None if its text does not fit its units."""
    text, sign = literal.text.strip(), -1 if literal.negative else 1
    if text[:1] in "+-" and text:
        sign, text = -sign if text[0] == "-" else sign, text[1:]
    start, end = literal.qualifier.start, literal.qualifier.end
    value = _year_month(text, start, end) if start in _MONTHS else _day_time(text, literal.qualifier)
    return None if value is None else sign * value


def operands_with_digits(
    node: nodes.BinaryOperation, left: Expression, right: Expression, session: EvaluationContext
) -> tuple[Expression, Expression]:
    """Return the operands of an operator; a timestamp has the digits that an interval beside it is said to have."""
    if node.operator not in ("+", "-"):
        return left, right
    return _with_digits(left, node.right, session), _with_digits(right, node.left, session)


def _with_digits(moment: Expression, beside: nodes.Expression, session: EvaluationContext) -> Expression:
    kind = moment.type
    digits = beside.qualifier.fractional_precision if isinstance(beside, nodes.IntervalLiteral) else None
    if not isinstance(kind, TimestampType) or digits is None or digits <= kind.precision:
        return moment
    return converted(moment, TimestampType(digits, kind.is_nullable), session)


def _year_month(text: str, start: str, end: str | None) -> int | None:
    if end is None:
        return int(text) * _MONTHS[start] if text.isdigit() else None
    found = re.fullmatch(r"(\d+)-(\d{1,2})", text)
    return int(found[1]) * 12 + int(found[2]) if found and int(found[2]) < 12 else None


def _day_time(text: str, qualifier: nodes.IntervalQualifier) -> int | None:
    start, end = qualifier.start, qualifier.end or qualifier.start
    if start == "WEEK":
        return int(text) * _MILLISECONDS["WEEK"] if text.isdigit() else None
    units = _UNITS[_UNITS.index(start) : _UNITS.index(end) + 1]
    pattern = {"DAY": r"(\d+)", "HOUR": r"(\d+)", "MINUTE": r"(\d+)", "SECOND": r"(\d+)(?:\.(\d{1,9}))?"}
    joined = pattern[units[0]]
    for before, unit in zip(units, units[1:], strict=False):
        joined += (" " if before == "DAY" else ":") + pattern[unit]
    found = re.fullmatch(joined, text)
    if found is None:
        return None
    numbers = [int(each) for each in found.groups()[: len(units)]]
    limits = {"HOUR": 23, "MINUTE": 59, "SECOND": 59}
    if any(number > limits[unit] for number, unit in zip(numbers[1:], units[1:], strict=True)):
        return None
    value = sum(number * _MILLISECONDS[unit] for number, unit in zip(numbers, units, strict=True))
    fraction = found.groups()[len(units)] if units[-1] == "SECOND" else None
    return value + (int(fraction.ljust(3, "0")[:3]) if fraction else 0)
