"""Parts of dates and times: EXTRACT, YEAR, HOUR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.errors import EvaluationError
from scurry.sql import types
from scurry.sql.functions.calendar import DATE_PARTS, Integers
from scurry.sql.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.operators.intervals import integer_kernel
from scurry.sql.functions.signatures import refuse
from scurry.sql.functions.time_units import DAY, FRACTIONS, MONTHS, SMALLEST, TIME_PARTS, divided, remainder, with_count
from scurry.sql.functions.time_zones import utc_to_local
from scurry.sql.types.arrow import units_per_second
from scurry.sql.types.families import BIGINT, DATETIME, TIMESTAMP


def _extracted(unit: str, data_type: Any, time_zone: str) -> Callable[[Integers], Integers]:
    if isinstance(data_type, types.YearMonthIntervalType):
        if unit == "QUARTER":
            return lambda values: divided(remainder(values, 12), 3) + 1
        if unit == "MONTH":
            return lambda values: remainder(values, 12)
        return lambda values: divided(values, MONTHS[unit])
    if isinstance(data_type, types.DayTimeIntervalType) and unit == "DAY":
        return lambda values: divided(values, DAY)
    units = units_per_second(data_type) if isinstance(data_type, TIMESTAMP) else 1000
    if isinstance(data_type, types.LocalZonedTimestampType):
        inner = _extracted(unit, types.TimestampType(data_type.precision), time_zone)
        return lambda values: inner(utc_to_local(values, units, time_zone))
    if unit in DATE_PARTS:
        if isinstance(data_type, types.DateType):
            return DATE_PARTS[unit]
        return lambda values: DATE_PARTS[unit](divided(values // (units // 1000), DAY))
    if unit == "EPOCH":
        if isinstance(data_type, types.DateType):
            return lambda values: values * 86_400
        return lambda values: divided(values // (units // 1000), 1000)
    if unit in TIME_PARTS:
        size, whole = TIME_PARTS[unit]
        return lambda values: divided(remainder(values // (units // 1000), whole), size)
    scale = FRACTIONS[unit]
    if unit == "MILLISECOND":
        return lambda values: remainder(values // (units // 1000), 1000)
    return lambda values: (
        remainder(values // (units // 1000), 1000) * (scale // 1000) + values % (units // 1000) * scale // units
    )


def _has_part(interval: types.DataType, unit: str) -> bool:
    if isinstance(interval, types.YearMonthIntervalType):
        return unit in ("YEAR", "QUARTER", "MONTH", "CENTURY", "MILLENNIUM")
    return isinstance(interval, types.DayTimeIntervalType) and unit in ("DAY", "EPOCH", *TIME_PARTS, *FRACTIONS)


def _infer_extract(site: CallSite) -> Signature:
    unit, given = site.arguments[0].value, site.types[1]
    fits = isinstance(given, (*DATETIME, types.NullType)) or _has_part(given, unit)
    if not fits or unit not in (*DATE_PARTS, *TIME_PARTS, *FRACTIONS, "EPOCH"):
        raise refuse(site, "'EXTRACT(<DATETIME_INTERVAL> FROM <DATETIME>)'")
    if isinstance(given, types.TimeType) and unit not in (*TIME_PARTS, "MILLISECOND", "EPOCH"):
        raise SignatureError(f"unit {unit} can not be applied to {given.as_summary_string()} variable")
    return Signature(site.types, BIGINT.with_nullability(given.is_nullable))


def _bind_extract(site: CallSite, result_type: types.DataType) -> Kernel:
    unit, given = site.arguments[0].value, site.types[1]
    if (unit in SMALLEST and isinstance(given, types.DateType | types.DayTimeIntervalType)) or (
        unit == "EPOCH" and isinstance(given, types.TimeType | types.DayTimeIntervalType)
    ):
        raise EvaluationError(f"unit {unit} can not be applied to {given.as_summary_string()} variable")
    extract = _extracted(unit, given, site.session.time_zone)
    kernel = integer_kernel(extract, result_type)
    return lambda columns, rows: kernel(columns[1:], rows)


def _part(name: str, unit: str) -> ScalarFunction:
    """Return the function of one argument that is EXTRACT of a unit."""

    def infer(site: CallSite) -> Signature:
        given = site.types[0] if len(site.arguments) == 1 else None
        fits = isinstance(given, (*DATETIME, types.NullType)) or (given is not None and _has_part(given, unit))
        if not fits or (isinstance(given, types.TimeType) and unit not in TIME_PARTS):
            raise refuse(site, f"'{name}(<DATETIME>)'")
        return Signature(site.types, BIGINT.with_nullability(site.any_nullable))

    def bind(site: CallSite, result_type: types.DataType) -> Kernel:
        return integer_kernel(_extracted(unit, site.types[0], site.session.time_zone), result_type)

    return ScalarFunction(name, infer, bind)


_PARTS: Final = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}

FUNCTIONS = (
    ScalarFunction("EXTRACT", with_count(_infer_extract, 2), _bind_extract),
    *(_part(name, unit) for name, unit in _PARTS.items()),
)
