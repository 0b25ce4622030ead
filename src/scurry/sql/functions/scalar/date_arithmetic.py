"""Dates and times plus and minus others: TIMESTAMPADD, TIMESTAMPDIFF, MINUS_DATE, OVERLAPS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.sql.functions.calendar import Integers, add_months, months_between
from scurry.sql.functions.casts.times import truncated_to
from scurry.sql.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import value_kernel
from scurry.sql.functions.operators.intervals import add_interval, integer_kernel
from scurry.sql.functions.signatures import refuse
from scurry.sql.functions.time_units import DAY, FRACTIONS, MONTHS, POSITIONS, SMALLEST, TIME_PARTS, divided, with_count
from scurry.sql.types import (
    DataType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    NullType,
    RowType,
    TimestampType,
    TimeType,
)
from scurry.sql.types.arrow import arrow_type, units_per_second
from scurry.sql.types.families import (
    BIGINT,
    BOOLEAN,
    DATETIME,
    DAY_TIME_INTERVAL,
    INT,
    INTEGER,
    INTERVAL,
    TIMESTAMP,
    YEAR_MONTH_INTERVAL,
)

_MILLISECONDS: Final = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": DAY,
    "WEEK": 7 * DAY,
}
#: Milliseconds of the units that TIMESTAMPDIFF counts.
_LENGTHS: Final = {**_MILLISECONDS, **dict.fromkeys(("DOW", "ISODOW", "DOY"), DAY), "EPOCH": 1000}
_SHORT: Final = {
    "SQL_TSI_YEAR": "YEAR",
    "SQL_TSI_QUARTER": "QUARTER",
    "SQL_TSI_MONTH": "MONTH",
    "SQL_TSI_WEEK": "WEEK",
    "SQL_TSI_DAY": "DAY",
    "SQL_TSI_HOUR": "HOUR",
    "SQL_TSI_MINUTE": "MINUTE",
    "SQL_TSI_SECOND": "SECOND",
}


def _unit_of(site: CallSite) -> str:
    name = str(site.arguments[0].value)
    return _SHORT.get(name, name)


def _infer_timestamp_add(site: CallSite) -> Signature:
    unit, (_, count, given) = _unit_of(site), site.types
    if not isinstance(count, (*INTEGER, NullType)) or not isinstance(given, (*DATETIME, NullType)):
        raise refuse(site, "'TIMESTAMPADD(<TIME_UNIT>, <INTEGER>, <DATETIME>)'")
    if unit in POSITIONS and not site.any_nullable:
        raise SignatureError("Conversion to relational algebra failed to preserve datatypes")
    if isinstance(given, DateType) and unit in FRACTIONS:
        raise SignatureError("typeName.allowsPrecScale(true, false): DATE")
    result: DataType = given
    if isinstance(given, DateType) and unit in TIME_PARTS:
        result = TimestampType(6)
    elif isinstance(given, (TimeType, *TIMESTAMP)) and unit in FRACTIONS:
        digits = max(given.precision, {"MILLISECOND": 3, "MICROSECOND": 6, "NANOSECOND": 9}[unit])
        result = type(given)(digits)
    value = given if isinstance(given, TimeType) else result
    taken = [site.types[0], count, value.with_nullability(given.is_nullable)]
    return Signature(taken, result.with_nullability(site.any_nullable))


def _bind_timestamp_add(site: CallSite, result_type: DataType) -> Kernel:
    unit, value_type = _unit_of(site), site.types[2]
    if unit in POSITIONS:
        return lambda columns, rows: pa.scalar(None, arrow_type(result_type))
    if unit in SMALLEST:
        raise EvaluationError(f"Unsupported call: /INT({DAY_TIME_INTERVAL.as_summary_string()}, INT)")
    if unit in MONTHS and isinstance(value_type, TimeType):
        return _without_unit(lambda count, value: value, result_type)
    if unit == "MILLISECOND" and isinstance(value_type, TimeType):
        # TIME(3) is the type, but no more digits than before are kept.
        return _without_unit(
            lambda count, value: truncated_to((value + count) % DAY, value_type.precision, 1000), result_type
        )
    if unit in MONTHS:
        add, size = add_interval(value_type, YEAR_MONTH_INTERVAL), MONTHS[unit]
    else:
        add, size = add_interval(value_type, DAY_TIME_INTERVAL), _MILLISECONDS[unit]
    return _without_unit(lambda count, value: add(value, count * size), result_type)


def _without_unit(function: Callable[..., Any], result_type: DataType) -> Kernel:
    kernel = integer_kernel(function, result_type)
    return lambda columns, rows: kernel(columns[1:], rows)


def _infer_timestamp_diff(site: CallSite) -> Signature:
    start, end = site.types[1:]
    for each in (start, end):
        if not isinstance(each, (*DATETIME, NullType)):
            raise refuse(site, "'TIMESTAMPDIFF(<TIME_UNIT>, <DATETIME>, <DATETIME>)'")
    if isinstance(start, LocalZonedTimestampType) != isinstance(end, LocalZonedTimestampType):
        raise SignatureError("TIMESTAMP_LTZ only supports diff between the same type.")
    mixes_time = isinstance(start, TimeType) != isinstance(end, TimeType)
    if mixes_time and _unit_of(site) not in MONTHS and not any(each.is_constant_null for each in site.arguments):
        raise SignatureError("TIMESTAMPDIFF does not take a TIME and another type")
    result = BIGINT if _unit_of(site) == "NANOSECOND" else INT
    return Signature(site.types, result.with_nullability(site.any_nullable))


def _bind_timestamp_diff(site: CallSite, result_type: DataType) -> Kernel:
    unit = _unit_of(site)
    if unit in MONTHS:
        return _without_unit(_months_difference(unit, site.types[1:]), result_type)
    of_start, of_end = (_milliseconds(each) for each in site.types[1:])
    has_dates = isinstance(site.types[1], DateType) != isinstance(site.types[2], DateType)

    def difference(start: Integers, end: Integers) -> Integers:
        milliseconds = of_end(end) - of_start(start)
        if has_dates:
            milliseconds = divided(milliseconds, 1000) * 1000
        if unit in SMALLEST:
            return milliseconds * (FRACTIONS[unit] // 1000)
        return divided(milliseconds, _LENGTHS[unit])

    return _without_unit(difference, result_type)


def _months_difference(unit: str, types: Sequence[DataType]) -> Callable[..., Integers]:
    # Beside a DATE the milliseconds of a TIME are taken for days.
    as_days = any(isinstance(each, DateType) for each in types)
    of_start, of_end = (_milliseconds(DateType() if as_days and isinstance(each, TimeType) else each) for each in types)
    # A decade of TIMESTAMPDIFF is a year in Flink.
    size = MONTHS["YEAR" if unit == "DECADE" else unit]

    def difference(start: Integers, end: Integers) -> Integers:
        one, other = of_start(start), of_end(end)
        months = months_between(one // DAY, other // DAY)
        landed = add_months(one // DAY, months) == other // DAY
        months = months - (landed & (other % DAY < one % DAY))
        return divided(months, size)

    return difference


def _milliseconds(data_type: Any) -> Callable[[Integers], Integers]:
    if isinstance(data_type, DateType):
        return lambda values: values * DAY
    if isinstance(data_type, TIMESTAMP):
        return lambda values: values // (units_per_second(data_type) // 1000)
    return lambda values: values


def _infer_minus_date(site: CallSite) -> Signature:
    if not all(isinstance(each, DATETIME) for each in site.types[:2]):
        raise refuse(site, "'(<DATETIME> - <DATETIME>) <INTERVAL>'")
    kinds = {type(each) for each in site.types[:2]}
    if len(kinds) > 1 and kinds != set(TIMESTAMP):
        raise SignatureError("Parameters must be of the same type")
    interval = YEAR_MONTH_INTERVAL if site.arguments[2].value in MONTHS else DAY_TIME_INTERVAL
    nullable = site.types[0].is_nullable or site.types[1].is_nullable
    return Signature(site.types, interval.with_nullability(nullable))


def _bind_minus_date(site: CallSite, result_type: DataType) -> Kernel:
    if type(site.types[0]) is not type(site.types[1]):
        raise EvaluationError("TIMESTAMP_LTZ only supports diff between the same type.")
    of_left, of_right = (_milliseconds(each) for each in site.types[:2])

    def difference(left: Integers, right: Integers) -> Integers:
        one, other = of_left(left), of_right(right)
        if isinstance(result_type, DayTimeIntervalType):
            return one - other
        return months_between(other // DAY, one // DAY)

    kernel = integer_kernel(difference, result_type)
    return lambda columns, rows: kernel(columns[:2], rows)


def _infer_overlaps(site: CallSite) -> Signature:
    forms = "'(<DATETIME>, <DATETIME>) OVERLAPS (<DATETIME>, <DATETIME>)'"
    kinds = set()
    for period in site.types:
        fits = isinstance(period, RowType) and len(period.fields) == 2
        types = period.field_types() if fits else []  # type: ignore[attr-defined]
        if not fits or not isinstance(types[0], DATETIME) or not isinstance(types[1], (*DATETIME, *INTERVAL)):
            raise refuse(site, forms)
        kinds |= {type(each) for each in types if isinstance(each, DATETIME)}
    if len(kinds) > 1:
        raise refuse(site, forms)
    fields = [field for period in site.types if isinstance(period, RowType) for field in period.fields]
    return Signature(site.types, BOOLEAN.with_nullability(any(field.data_type.is_nullable for field in fields)))


def _bind_overlaps(site: CallSite, result_type: DataType) -> Kernel:
    ends = [_end_of(period) for period in site.types]

    def overlaps(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool | None:
        (start, end), (other_start, other_end) = (
            _ordered(*period, end) for period, end in zip((one, other), ends, strict=True)
        )
        return _all_of(_not_before(end, other_start), _not_before(other_end, start))

    return value_kernel(overlaps, result_type)


def _end_of(period: Any) -> Callable[[Any, Any], Any]:
    start, end = (field.data_type for field in period.fields)
    if not isinstance(end, INTERVAL):
        return lambda first, last: last
    add = add_interval(start, end)
    return lambda first, length: None if None in (first, length) else int(add(np.array([first]), np.array([length]))[0])


def _ordered(start: Any, end: Any, end_of: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    end = end_of(start, end)
    # An unknown order counts as not in order.
    return (start, end) if None not in (start, end) and start <= end else (end, start)


def _not_before(one: Any, other: Any) -> bool | None:
    return None if one is None or other is None else bool(one >= other)


def _all_of(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


FUNCTIONS = (
    ScalarFunction("TIMESTAMPADD", with_count(_infer_timestamp_add, 3), _bind_timestamp_add),
    ScalarFunction("MINUS_DATE", with_count(_infer_minus_date, 3), _bind_minus_date),
    ScalarFunction("OVERLAPS", with_count(_infer_overlaps, 2), _bind_overlaps),
    ScalarFunction("TIMESTAMPDIFF", with_count(_infer_timestamp_diff, 3), _bind_timestamp_diff),
)
