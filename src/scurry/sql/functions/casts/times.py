"""Casts between DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.time_units import refuse_overflow
from scurry.sql.functions.time_zones import local_to_utc, utc_to_local
from scurry.sql.types import DataType, DateType, LocalZonedTimestampType, TimestampType, TimeType
from scurry.sql.types.arrow import arrow_type, units_per_second

Integers = np.ndarray[Any, np.dtype[np.int64]]
Cast = Callable[[Column], Column]

SECONDS_PER_DAY: Final = 86_400


def on_integers(function: Callable[[Integers], Integers], result_type: DataType) -> Cast:
    """Return the function of a temporal column that is a function of its integers."""
    kind = arrow_type(result_type)
    width = kind.bit_width

    def cast(column: Column) -> Column:
        array = pa.repeat(column, 1) if isinstance(column, pa.Scalar) else column
        plain = array.view(pa.int64() if array.type.bit_width == 64 else pa.int32())
        values = np.asarray(pc.fill_null(plain, 0)).astype(np.int64)
        integers = function(values).astype(np.int64 if width == 64 else np.int32)
        result = pa.array(integers, mask=np.asarray(pc.is_null(array))).view(kind)
        return result[0] if isinstance(column, pa.Scalar) else result

    return cast


def time_cast(source: DataType, target: DataType, session: EvaluationContext) -> Cast:
    """Return the cast between types of dates and times."""
    return on_integers(_function(source, target, session.time_zone), target)


def _function(source: Any, target: Any, time_zone: str) -> Callable[[Integers], Integers]:
    local = _local(source, time_zone)
    if isinstance(target, TimeType):
        if isinstance(source, TimeType):
            return lambda values: truncated_to(values, target.precision, 1000)
        time_of_day = _zoned_time_of_day if isinstance(source, LocalZonedTimestampType) else _time_of_day
        return lambda values: time_of_day(local(values), units_per_second(source), target.precision)
    if isinstance(target, DateType):
        if isinstance(source, TimestampType):
            return lambda values: _day_towards_1970(values, units_per_second(source))
        return lambda values: local(values) // (SECONDS_PER_DAY * units_per_second(source))
    units = units_per_second(target)
    if isinstance(source, DateType):
        return _zoned(lambda values: _rescaled(values * SECONDS_PER_DAY, 1, units), target, time_zone)
    if isinstance(source, TimeType):
        return _zoned(
            lambda values: truncated_to(_rescaled(values, 1000, units), target.precision, units), target, time_zone
        )
    before = units_per_second(source)
    same_kind = type(source) is type(target)
    start = (lambda values: values) if same_kind else local

    def convert(values: Integers) -> Integers:
        return _cut_timestamps(_rescaled(start(values), before, units), target.precision, units)

    return convert if same_kind else _zoned(convert, target, time_zone)


def _local(source: Any, time_zone: str) -> Callable[[Integers], Integers]:
    if isinstance(source, LocalZonedTimestampType):
        return lambda values: utc_to_local(values, units_per_second(source), time_zone)
    return lambda values: values


def _zoned(function: Callable[[Integers], Integers], target: Any, time_zone: str) -> Callable[[Integers], Integers]:
    if isinstance(target, LocalZonedTimestampType):
        return lambda values: local_to_utc(function(values), units_per_second(target), time_zone)
    return function


def _day_towards_1970(values: Integers, units: int) -> Integers:
    # Flink divides milliseconds as Java does: a time of a day before 1970 is of the next one.
    days: Integers = np.trunc(values // (units // 1000) / (SECONDS_PER_DAY * 1000)).astype(np.int64)
    return days


def _zoned_time_of_day(values: Integers, units: int, precision: int) -> Integers:
    rest: Integers = np.mod(values // (units // 1000), SECONDS_PER_DAY * 1000)
    return _towards_1970(rest, 10 ** max(3 - precision, 0))


def _time_of_day(values: Integers, units: int, precision: int) -> Integers:
    rest: Integers = np.fmod(values // (units // 1000), SECONDS_PER_DAY * 1000)
    cut = _towards_1970(rest, 10 ** max(3 - precision, 0))
    times: Integers = np.where(cut < 0, cut + SECONDS_PER_DAY * 1000, cut)
    return times


def _cut_timestamps(values: Integers, precision: int, units: int) -> Integers:
    """Cut digits after the second; of milliseconds and more towards 1970, as Flink does."""
    if precision < 3:
        return _towards_1970(values // (units // 1000), 10 ** (3 - precision)) * (units // 1000)
    return truncated_to(values, precision, units)


def _towards_1970(values: Integers, step: int) -> Integers:
    cut: Integers = values - np.fmod(values, step)
    return cut


def _rescaled(values: Integers, before: int, after: int) -> Integers:
    if after < before:
        return values // (before // after)
    factor = after // before
    if factor > 1:
        refuse_overflow(values * float(factor), after)
    return values * factor


def truncated_to(values: Integers, precision: int, units: int) -> Integers:
    """Return times with so many digits after the second, the others cut off."""
    step = units // 10**precision
    return values // step * step if step > 1 else values
