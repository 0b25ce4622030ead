"""FLOOR and CEIL: of numbers, and of dates and times to a unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.sql.functions.calendar import DATE_PARTS, Integers, ceil_date, floor_date
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature
from scurry.sql.functions.operators.intervals import integer_kernel
from scurry.sql.functions.scalar.rounding import ceil_number, floor_number, infer_whole
from scurry.sql.functions.signatures import refuse
from scurry.sql.functions.time_units import DAY, POSITIONS, SMALLEST, divided, refuse_overflow
from scurry.sql.functions.time_zones import utc_to_local
from scurry.sql.types import DataType, DateType, LocalZonedTimestampType, NullType, SymbolType, TimeType
from scurry.sql.types.arrow import arrow_type, units_per_second
from scurry.sql.types.families import DATETIME, NUMERIC, TIMESTAMP

#: Milliseconds of the units that FLOOR and CEIL count without a calendar; Flink's ISOYEAR is one of 12.
_STEPS: Final = {
    "MILLISECOND": 1,
    "ISOYEAR": 12,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": DAY,
}


def _floored(unit: str, units: int) -> Callable[[Integers], Integers]:
    def floor(values: Integers) -> Integers:
        if unit in _STEPS:
            step = _STEPS[unit] * units // 1000
            return values // step * step
        return _timestamps(floor_date(divided(values // (units // 1000), DAY), unit), units)

    return floor


def _ceiled(unit: str, units: int) -> Callable[[Integers], Integers]:
    def ceil(values: Integers) -> Integers:
        if unit in _STEPS:
            step = _STEPS[unit] * units // 1000
            return -(-values // step) * step
        return _timestamps(ceil_date(divided(values // (units // 1000), DAY), unit), units)

    return ceil


def _timestamps(days: Integers, units: int) -> Integers:
    refuse_overflow(days * (86_400.0 * units), units)
    return days * (86_400 * units)


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
            unit in (*POSITIONS, *SMALLEST) or (unit == "ISOYEAR" and isinstance(given, LocalZonedTimestampType))
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
    if isinstance(data_type, TimeType):
        return lambda values: _within_day(apply(values))
    if not isinstance(data_type, LocalZonedTimestampType):
        return apply

    def zoned(values: Integers) -> Integers:
        local = utc_to_local(values, units, time_zone)
        return apply(local) - (local - values)

    return zoned


def _within_day(milliseconds: Integers) -> Integers:
    if len(milliseconds) and milliseconds.max() >= DAY:
        raise EvaluationError("Hour out of range: [24]: CEIL of a TIME is the end of the day")
    return milliseconds


FUNCTIONS = (
    ScalarFunction("FLOOR", _infer_whole_unit, _bind_whole_unit(True)),
    ScalarFunction("CEIL", _infer_whole_unit, _bind_whole_unit(False), aliases=("CEILING",)),
)
