"""Arithmetic of dates, times and intervals: + and - with them, * and / of intervals by numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql import types
from scurry.sql.functions.calendar import Integers, add_months
from scurry.sql.functions.definition import CallSite, Column, Kernel, Signature
from scurry.sql.functions.time_units import refuse_overflow
from scurry.sql.types.arrow import arrow_type, units_per_second
from scurry.sql.types.families import DATETIME, INTEGER, INTERVAL, NUMERIC

MILLISECONDS_PER_DAY: Final = 86_400_000


def infer_interval(operator: str, site: CallSite) -> Signature | None:
    """Return the types of an operator with an interval; None if it has none, or they do not fit."""
    left, right = site.types
    nullable = site.any_nullable
    if isinstance(left, INTERVAL) and isinstance(right, INTERVAL) and operator in "+-":
        return Signature([left, right], left.with_nullability(nullable)) if type(left) is type(right) else None
    if isinstance(left, DATETIME) and isinstance(right, INTERVAL) and operator in "+-":
        return Signature([left, right], left.with_nullability(nullable))
    if isinstance(left, INTERVAL) and isinstance(right, DATETIME) and operator == "+":
        return Signature([left, right], right.with_nullability(nullable))
    if isinstance(left, INTERVAL) and isinstance(right, (*NUMERIC, types.NullType)) and operator in "*/":
        return Signature([left, right], left.with_nullability(nullable))
    if isinstance(left, (*NUMERIC, types.NullType)) and isinstance(right, INTERVAL) and operator == "*":
        return Signature([left, right], right.with_nullability(nullable))
    return None


def bind_interval(operator: str, site: CallSite, result_type: types.DataType) -> Kernel:
    left, right = site.types
    if operator in "*/":
        return _scaled(operator, left, right, result_type)
    if isinstance(left, INTERVAL) and isinstance(right, INTERVAL):
        return integer_kernel(lambda one, other: one + other if operator == "+" else one - other, result_type)
    if isinstance(left, INTERVAL):
        add = add_interval(right, left)
        return integer_kernel(lambda interval, value: add(value, interval), result_type)
    add = add_interval(left, right)
    sign = 1 if operator == "+" else -1
    return integer_kernel(lambda value, interval: add(value, sign * interval), result_type)


def add_interval(value_type: Any, interval_type: types.DataType) -> Callable[[Integers, Integers], Integers]:
    """Return the function that adds an interval to the integers of a DATE, TIME or TIMESTAMP."""
    if isinstance(interval_type, types.YearMonthIntervalType):
        return _month_adder(value_type)
    assert isinstance(interval_type, types.DayTimeIntervalType)
    if isinstance(value_type, types.DateType):
        # Only whole days count; the fraction of a day is cut off.
        return lambda value, interval: value + np.trunc(interval / MILLISECONDS_PER_DAY).astype(np.int64)
    if isinstance(value_type, types.TimeType):
        return lambda value, interval: (value + interval) % MILLISECONDS_PER_DAY
    return _time_adder(units_per_second(value_type))


def _time_adder(units: int) -> Callable[[Integers, Integers], Integers]:
    factor = units // 1000

    def add(value: Integers, interval: Integers) -> Integers:
        refuse_overflow(value + interval * float(factor), units)
        return value + interval * factor

    return add


def _month_adder(value_type: Any) -> Callable[[Integers, Integers], Integers]:
    if isinstance(value_type, types.TimeType):
        return lambda value, months: value
    if isinstance(value_type, types.DateType):
        return add_months
    assert isinstance(value_type, types.TimestampType | types.LocalZonedTimestampType)
    units = units_per_second(value_type)
    day = 86_400 * units

    def add(value: Integers, months: Integers) -> Integers:
        days = add_months(value // day, months)
        refuse_overflow(days * float(day), units)
        return days * day + value % day

    return add


def _scaled(operator: str, left: types.DataType, right: types.DataType, result_type: types.DataType) -> Kernel:
    interval, number = (left, right) if isinstance(left, INTERVAL) else (right, left)
    if operator == "*" and isinstance(number, (*INTEGER, types.NullType)):
        return integer_kernel(lambda one, other: one * other, result_type)
    problem = (
        f"Unsupported casting from {number.as_summary_string()} to {interval.as_summary_string()}."
        if operator == "*"
        else f"Unsupported call: /({left.as_summary_string()}, {right.as_summary_string()})"
    )

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        if any(isinstance(column, pa.Scalar) and not column.is_valid for column in columns):
            return pa.scalar(None, arrow_type(result_type))
        raise EvaluationError(problem)

    return kernel


def integer_kernel(function: Callable[..., Any], result_type: types.DataType) -> Kernel:
    """Return the kernel of a function of the integers of temporal columns, and of numbers."""
    kind = arrow_type(result_type)
    plain = np.int64 if kind.bit_width == 64 else np.int32

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        scalars = all(isinstance(each, pa.Scalar) for each in columns)
        is_null: Any = None
        values = []
        for column in columns:
            array = pa.repeat(column, 1) if isinstance(column, pa.Scalar) else column
            if array.null_count:
                nulls = np.asarray(array.is_null())
                is_null = nulls if is_null is None else is_null | nulls
            values.append(_integers(array))
        found = np.broadcast_to(np.asarray(function(*values)).astype(plain, copy=False), 1 if scalars else rows)
        result = pa.array(found, mask=None if is_null is None else np.broadcast_to(is_null, len(found))).view(kind)
        return result[0] if scalars else result

    return kernel


def _integers(array: pa.Array) -> Any:
    if pa.types.is_decimal(array.type) or pa.types.is_floating(array.type):
        return np.asarray(pc.fill_null(pc.cast(array, pa.float64()), 0.0))
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int64)
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int64() if array.type.bit_width == 64 else pa.int32())
    return np.asarray(pc.fill_null(array, 0) if array.null_count else array).astype(np.int64, copy=False)
