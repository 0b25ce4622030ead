"""Parts of dates and times: EXTRACT, YEAR, FLOOR TO, TIMESTAMPADD, TIMESTAMPDIFF, OVERLAPS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.functions.calendar import DATE_PARTS, Integers, add_months, ceil_date, floor_date, months_between
from scurry.functions.casts.times import truncated_to
from scurry.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature, SignatureError
from scurry.functions.kernels import value_kernel
from scurry.functions.operators.intervals import add_interval, integer_kernel
from scurry.functions.scalar.rounding import ceil_number, floor_number, infer_whole
from scurry.functions.signatures import Infer, refuse
from scurry.functions.time_zones import utc_to_local
from scurry.logical_types import (
    DataType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    NullType,
    RowType,
    SymbolType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)
from scurry.logical_types.arrow import arrow_type, units_per_second
from scurry.logical_types.families import (
    BIGINT,
    BOOLEAN,
    DATETIME,
    DAY_TIME_INTERVAL,
    INT,
    INTEGER,
    INTERVAL,
    NUMERIC,
    TIMESTAMP,
    YEAR_MONTH_INTERVAL,
)

__all__ = ["FUNCTIONS"]

_DAY: Final = 86_400_000
#: Milliseconds of the units of a time of day, and of the next greater one.
_TIME_PARTS: Final = {"HOUR": (3_600_000, _DAY), "MINUTE": (60_000, 3_600_000), "SECOND": (1000, 60_000)}
_FRACTIONS: Final = {"MILLISECOND": 1_000, "MICROSECOND": 1_000_000, "NANOSECOND": 1_000_000_000}
_MONTHS: Final = {
    "MONTH": 1, "QUARTER": 3, "YEAR": 12, "ISOYEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12_000,
}  # fmt: skip
#: Units that say where a day lies, and have no length.
_POSITIONS: Final = ("DOW", "ISODOW", "DOY", "EPOCH")
_SMALLEST: Final = ("MICROSECOND", "NANOSECOND")
_MILLISECONDS: Final = {
    "MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000,
    "DAY": _DAY, "WEEK": 7 * _DAY,
}  # fmt: skip
#: Milliseconds of the units that TIMESTAMPDIFF counts.
_LENGTHS: Final = {**_MILLISECONDS, **dict.fromkeys(("DOW", "ISODOW", "DOY"), _DAY), "EPOCH": 1000}
#: Milliseconds of the units that FLOOR and CEIL count without a calendar; Flink's ISOYEAR is one of 12.
_STEPS: Final = {
    "MILLISECOND": 1, "ISOYEAR": 12, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": _DAY,
}  # fmt: skip
_SHORT: Final = {
    "SQL_TSI_YEAR": "YEAR", "SQL_TSI_QUARTER": "QUARTER", "SQL_TSI_MONTH": "MONTH", "SQL_TSI_WEEK": "WEEK",
    "SQL_TSI_DAY": "DAY", "SQL_TSI_HOUR": "HOUR", "SQL_TSI_MINUTE": "MINUTE", "SQL_TSI_SECOND": "SECOND",
}  # fmt: skip


def _divided(values: Integers, divisor: int) -> Integers:
    """Divide as Java does, towards zero: for times before 1970 Flink's parts are those of the next day or second."""
    quotients: Integers = np.sign(values) * (np.abs(values) // divisor)
    return quotients


def _remainder(values: Integers, divisor: int) -> Integers:
    rest: Integers = np.fmod(values, divisor)
    return rest


def _extracted(unit: str, data_type: Any, time_zone: str) -> Callable[[Integers], Integers]:
    if isinstance(data_type, YearMonthIntervalType):
        if unit == "QUARTER":
            return lambda values: _divided(_remainder(values, 12), 3) + 1
        if unit == "MONTH":
            return lambda values: _remainder(values, 12)
        return lambda values: _divided(values, _MONTHS[unit])
    if isinstance(data_type, DayTimeIntervalType) and unit == "DAY":
        return lambda values: _divided(values, _DAY)
    units = units_per_second(data_type) if isinstance(data_type, TIMESTAMP) else 1000
    if isinstance(data_type, LocalZonedTimestampType):
        inner = _extracted(unit, TimestampType(data_type.precision), time_zone)
        return lambda values: inner(utc_to_local(values, units, time_zone))
    if unit in DATE_PARTS:
        if isinstance(data_type, DateType):
            return DATE_PARTS[unit]
        return lambda values: DATE_PARTS[unit](_divided(values // (units // 1000), _DAY))
    if unit == "EPOCH":
        if isinstance(data_type, DateType):
            return lambda values: values * 86_400
        return lambda values: _divided(values // (units // 1000), 1000)
    if unit in _TIME_PARTS:
        size, whole = _TIME_PARTS[unit]
        return lambda values: _divided(_remainder(values // (units // 1000), whole), size)
    scale = _FRACTIONS[unit]
    if unit == "MILLISECOND":
        return lambda values: _remainder(values // (units // 1000), 1000)
    return lambda values: (
        _remainder(values // (units // 1000), 1000) * (scale // 1000) + values % (units // 1000) * scale // units
    )


def _has_part(interval: DataType, unit: str) -> bool:
    if isinstance(interval, YearMonthIntervalType):
        return unit in ("YEAR", "QUARTER", "MONTH", "CENTURY", "MILLENNIUM")
    return isinstance(interval, DayTimeIntervalType) and unit in ("DAY", "EPOCH", *_TIME_PARTS, *_FRACTIONS)


def _infer_extract(site: CallSite) -> Signature:
    unit, given = site.arguments[0].value, site.types[1]
    fits = isinstance(given, (*DATETIME, NullType)) or _has_part(given, unit)
    if not fits or unit not in (*DATE_PARTS, *_TIME_PARTS, *_FRACTIONS, "EPOCH"):
        raise refuse(site, "'EXTRACT(<DATETIME_INTERVAL> FROM <DATETIME>)'")
    if isinstance(given, TimeType) and unit not in (*_TIME_PARTS, "MILLISECOND", "EPOCH"):
        raise SignatureError(f"unit {unit} can not be applied to {given.as_summary_string()} variable")
    return Signature(site.types, BIGINT.with_nullability(given.is_nullable))


def _bind_extract(site: CallSite, result_type: DataType) -> Kernel:
    unit, given = site.arguments[0].value, site.types[1]
    if (unit in _SMALLEST and isinstance(given, DateType | DayTimeIntervalType)) or (
        unit == "EPOCH" and isinstance(given, TimeType | DayTimeIntervalType)
    ):
        raise EvaluationError(f"unit {unit} can not be applied to {given.as_summary_string()} variable")
    extract = _extracted(unit, given, site.session.time_zone)
    kernel = integer_kernel(extract, result_type)
    return lambda columns, rows: kernel(columns[1:], rows)


def _part(name: str, unit: str) -> ScalarFunction:
    """Return the function of one argument that is EXTRACT of a unit."""

    def infer(site: CallSite) -> Signature:
        given = site.types[0] if len(site.arguments) == 1 else None
        fits = isinstance(given, (*DATETIME, NullType)) or (given is not None and _has_part(given, unit))
        if not fits or (isinstance(given, TimeType) and unit not in _TIME_PARTS):
            raise refuse(site, f"'{name}(<DATETIME>)'")
        return Signature(site.types, BIGINT.with_nullability(site.any_nullable))

    def bind(site: CallSite, result_type: DataType) -> Kernel:
        return integer_kernel(_extracted(unit, site.types[0], site.session.time_zone), result_type)

    return ScalarFunction(name, infer, bind, is_standard=True)


def _floored(unit: str, units: int) -> Callable[[Integers], Integers]:
    def floor(values: Integers) -> Integers:
        if unit in _STEPS:
            step = _STEPS[unit] * units // 1000
            return values // step * step
        return floor_date(_divided(values // (units // 1000), _DAY), unit) * (86_400 * units)

    return floor


def _ceiled(unit: str, units: int) -> Callable[[Integers], Integers]:
    def ceil(values: Integers) -> Integers:
        if unit in _STEPS:
            step = _STEPS[unit] * units // 1000
            return -(-values // step) * step
        return ceil_date(_divided(values // (units // 1000), _DAY), unit) * (86_400 * units)

    return ceil


def _infer_whole_unit(site: CallSite) -> Signature:
    if len(site.arguments) == 1:
        return infer_whole(site)
    if not isinstance(site.types[0], (*DATETIME, NullType)) or not isinstance(site.types[1], SymbolType):
        raise refuse(site, f"'{site.name}(<DATETIME> TO <TIME_UNIT>)'")
    return Signature(site.types, site.types[0])


def _bind_whole_unit(is_floor: bool) -> Callable[[CallSite, DataType], Kernel]:
    def bind(site: CallSite, result_type: DataType) -> Kernel:
        if isinstance(site.types[0], NUMERIC):
            return (floor_number if is_floor else ceil_number)(site, result_type)
        unit, given = site.arguments[1].value, site.types[0]
        if not isinstance(given, DateType) and (
            unit in (*_POSITIONS, *_SMALLEST) or (unit == "ISOYEAR" and isinstance(given, LocalZonedTimestampType))
        ):
            return _no_whole_unit(f"{site.name}({given.as_summary_string()} TO {unit})", result_type)
        kernel = integer_kernel(_whole_unit(unit, site.types[0], is_floor, site.session.time_zone), result_type)
        return lambda columns, rows: kernel(columns[:1], rows)

    return bind


def _no_whole_unit(call: str, result_type: DataType) -> Kernel:
    """Return the kernel for a unit that Flink's planner accepts, but its code does not compile for."""

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        if isinstance(columns[0], pa.Scalar) and not columns[0].is_valid:
            return pa.scalar(None, arrow_type(result_type))
        raise EvaluationError(f"{call} cannot be computed")

    return kernel


def _whole_unit(unit: str, data_type: Any, is_floor: bool, time_zone: str) -> Callable[[Integers], Integers]:
    if isinstance(data_type, DateType):
        on_days = floor_date if is_floor else ceil_date
        return lambda values: on_days(values, unit)
    if isinstance(data_type, TimeType) and unit != "ISOYEAR" and unit in DATE_PARTS:
        # As in Flink the milliseconds are taken for days.
        return lambda values: (floor_date if is_floor else ceil_date)(values, unit)
    if isinstance(data_type, TimeType) and not is_floor and unit == "DAY":
        return lambda values: values
    units = units_per_second(data_type) if isinstance(data_type, TIMESTAMP) else 1000
    apply = (_floored if is_floor else _ceiled)(unit, units)
    if not isinstance(data_type, LocalZonedTimestampType):
        return apply

    def zoned(values: Integers) -> Integers:
        local = utc_to_local(values, units, time_zone)
        return apply(local) - (local - values)

    return zoned


def _unit_of(site: CallSite) -> str:
    name = str(site.arguments[0].value)
    return _SHORT.get(name, name)


def _infer_timestamp_add(site: CallSite) -> Signature:
    unit, (_, count, given) = _unit_of(site), site.types
    if not isinstance(count, (*INTEGER, NullType)) or not isinstance(given, (*DATETIME, NullType)):
        raise refuse(site, "'TIMESTAMPADD(<TIME_UNIT>, <INTEGER>, <DATETIME>)'")
    if unit in _POSITIONS and not site.any_nullable:
        raise SignatureError("Conversion to relational algebra failed to preserve datatypes")
    if isinstance(given, DateType) and unit in _FRACTIONS:
        raise SignatureError("typeName.allowsPrecScale(true, false): DATE")
    result: DataType = given
    if isinstance(given, DateType) and unit in _TIME_PARTS:
        result = TimestampType(6)
    elif isinstance(given, (TimeType, *TIMESTAMP)) and unit in _FRACTIONS:
        digits = max(given.precision, {"MILLISECOND": 3, "MICROSECOND": 6, "NANOSECOND": 9}[unit])
        result = type(given)(digits)
    value = given if isinstance(given, TimeType) else result
    taken = [site.types[0], count, value.with_nullability(given.is_nullable)]
    return Signature(taken, result.with_nullability(site.any_nullable))


def _bind_timestamp_add(site: CallSite, result_type: DataType) -> Kernel:
    unit, value_type = _unit_of(site), site.types[2]
    if unit in _POSITIONS:
        return lambda columns, rows: pa.scalar(None, arrow_type(result_type))
    if unit in _SMALLEST:
        raise EvaluationError(f"Unsupported call: /INT({DAY_TIME_INTERVAL.as_summary_string()}, INT)")
    if unit in _MONTHS and isinstance(value_type, TimeType):
        return _without_unit(lambda count, value: value, result_type)
    if unit == "MILLISECOND" and isinstance(value_type, TimeType):
        # TIME(3) is the type, but no more digits than before are kept.
        return _without_unit(
            lambda count, value: truncated_to((value + count) % _DAY, value_type.precision, 1000), result_type
        )
    if unit in _MONTHS:
        add, size = add_interval(value_type, YEAR_MONTH_INTERVAL), _MONTHS[unit]
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
    if mixes_time and _unit_of(site) not in _MONTHS and not any(each.is_constant_null for each in site.arguments):
        raise SignatureError("TIMESTAMPDIFF does not take a TIME and another type")
    result = BIGINT if _unit_of(site) == "NANOSECOND" else INT
    return Signature(site.types, result.with_nullability(site.any_nullable))


def _bind_timestamp_diff(site: CallSite, result_type: DataType) -> Kernel:
    unit = _unit_of(site)
    if unit in _MONTHS:
        return _without_unit(_months_difference(unit, site.types[1:]), result_type)
    of_start, of_end = (_milliseconds(each) for each in site.types[1:])
    has_dates = isinstance(site.types[1], DateType) != isinstance(site.types[2], DateType)

    def difference(start: Integers, end: Integers) -> Integers:
        milliseconds = of_end(end) - of_start(start)
        if has_dates:
            milliseconds = _divided(milliseconds, 1000) * 1000
        if unit in _SMALLEST:
            return milliseconds * (_FRACTIONS[unit] // 1000)
        return _divided(milliseconds, _LENGTHS[unit])

    return _without_unit(difference, result_type)


def _months_difference(unit: str, types: Sequence[DataType]) -> Callable[..., Integers]:
    # Beside a DATE the milliseconds of a TIME are taken for days.
    as_days = any(isinstance(each, DateType) for each in types)
    of_start, of_end = (_milliseconds(DateType() if as_days and isinstance(each, TimeType) else each) for each in types)
    # A decade of TIMESTAMPDIFF is a year in Flink.
    size = _MONTHS["YEAR" if unit == "DECADE" else unit]

    def difference(start: Integers, end: Integers) -> Integers:
        one, other = of_start(start), of_end(end)
        months = months_between(one // _DAY, other // _DAY)
        landed = add_months(one // _DAY, months) == other // _DAY
        months = months - (landed & (other % _DAY < one % _DAY))
        return _divided(months, size)

    return difference


def _milliseconds(data_type: Any) -> Callable[[Integers], Integers]:
    if isinstance(data_type, DateType):
        return lambda values: values * _DAY
    if isinstance(data_type, TIMESTAMP):
        return lambda values: values // (units_per_second(data_type) // 1000)
    return lambda values: values


def _infer_minus_date(site: CallSite) -> Signature:
    if not all(isinstance(each, DATETIME) for each in site.types[:2]):
        raise refuse(site, "'(<DATETIME> - <DATETIME>) <INTERVAL>'")
    kinds = {type(each) for each in site.types[:2]}
    if len(kinds) > 1 and kinds != set(TIMESTAMP):
        raise SignatureError("Parameters must be of the same type")
    interval = YEAR_MONTH_INTERVAL if site.arguments[2].value in _MONTHS else DAY_TIME_INTERVAL
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
        return months_between(other // _DAY, one // _DAY)

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
    # What is not known to be in order counts as not in order.
    return (start, end) if None not in (start, end) and start <= end else (end, start)


def _not_before(one: Any, other: Any) -> bool | None:
    return None if one is None or other is None else bool(one >= other)


def _all_of(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _check(infer: Infer, count: int) -> Infer:
    def checked(site: CallSite) -> Signature:
        if len(site.arguments) != count:
            raise SignatureError(
                f"Invalid number of arguments to function '{site.name}'. Was expecting {count} arguments"
            )
        return infer(site)

    return checked


_PARTS: Final = {
    "YEAR": "YEAR", "QUARTER": "QUARTER", "MONTH": "MONTH", "WEEK": "WEEK", "DAYOFYEAR": "DOY", "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW", "HOUR": "HOUR", "MINUTE": "MINUTE", "SECOND": "SECOND",
}  # fmt: skip

FUNCTIONS = (
    ScalarFunction("EXTRACT", _check(_infer_extract, 2), _bind_extract, is_standard=True),
    *(_part(name, unit) for name, unit in _PARTS.items()),
    ScalarFunction("FLOOR", _infer_whole_unit, _bind_whole_unit(True), is_standard=True),
    ScalarFunction("CEIL", _infer_whole_unit, _bind_whole_unit(False), aliases=("CEILING",), is_standard=True),
    ScalarFunction("TIMESTAMPADD", _check(_infer_timestamp_add, 3), _bind_timestamp_add, is_standard=True),
    ScalarFunction("MINUS_DATE", _check(_infer_minus_date, 3), _bind_minus_date, is_standard=True),
    ScalarFunction("OVERLAPS", _check(_infer_overlaps, 2), _bind_overlaps, is_standard=True),
    ScalarFunction("TIMESTAMPDIFF", _check(_infer_timestamp_diff, 3), _bind_timestamp_diff, is_standard=True),
)
