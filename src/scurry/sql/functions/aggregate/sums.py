"""SUM, $SUM0 and AVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql import types
from scurry.sql.functions.aggregate.definition import (
    Accumulator,
    Additive,
    AggregateFunction,
    AggregateProperties,
    AggregateSite,
    Column,
    Groups,
)
from scurry.sql.functions.aggregate.grouped import by_arrow, counts, decimal_sums, valid_rows
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.functions.signatures import refuse
from scurry.sql.types.arithmetic import average_type, sum_type
from scurry.sql.types.arrow import arrow_type

_INTERVAL = (types.YearMonthIntervalType, types.DayTimeIntervalType)


def sums(column: Column, groups: Groups, count: int) -> Column:
    """Return the sum of each group, NULL for a group without values; whole numbers wrap."""
    if pa.types.is_decimal(column.type):
        return decimal_sums(column, groups, count)
    if pa.types.is_float32(column.type):
        return _float_sums(column, groups, count)
    found = by_arrow(column, groups, count, "sum")
    return found.cast(column.type, safe=False) if pa.types.is_integer(column.type) else found


def _float_sums(column: Column, groups: Groups, count: int) -> Column:
    """Add FLOATs one after the other, as Java does; Arrow and numpy would add them as DOUBLEs."""
    valid = np.asarray(column.is_valid())
    total = np.zeros(count, np.float32)
    with np.errstate(all="ignore"):
        np.add.at(total, groups[valid], np.asarray(column.drop_null()))
    return pa.array(total, mask=np.bincount(groups[valid], minlength=count) == 0)


class Sum(Additive):
    """Adds values; the state has the sum and the number of values."""

    def __init__(self, result_type: types.DataType, zero: bool) -> None:
        self._type = arrow_type(result_type)
        self._zero = zero

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        (column,), groups = valid_rows(columns, groups)
        return [sums(column, groups, count), counts(groups, count)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [sums(states[0], groups, count), sums(states[1], groups, count)]

    def result(self, states: Sequence[Column]) -> Column:
        total, number = states
        if self._zero:
            return total.fill_null(0).cast(self._type, safe=False)
        return pc.if_else(pc.equal(number, 0), pa.scalar(None, total.type), total).cast(self._type, safe=False)


class Average(Sum):
    """Divides the sum of the values by their number."""

    def __init__(self, result_type: types.DataType, narrow: bool) -> None:
        super().__init__(result_type, zero=False)
        self._result, self._narrow = result_type, narrow

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        (column,), groups = valid_rows(columns, groups)
        if self._narrow:
            return [sums(column, groups, count), counts(groups, count)]
        if pa.types.is_integer(column.type):
            column = column.cast(pa.int64())
        elif pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
        return [sums(column, groups, count), counts(groups, count)]

    def result(self, states: Sequence[Column]) -> Column:
        total, number = states
        return divided(total, number, self._result)


def divided(total: Column, number: Column, result_type: types.DataType) -> Column:
    """Return quotients of sums and numbers of values as values of a type, NULL where there are no values."""
    kind = arrow_type(result_type)
    none = np.asarray(pc.equal(number, 0))
    number = pc.if_else(pa.array(none), pa.scalar(1, number.type), number)
    if isinstance(result_type, types.DecimalType):
        found = _decimal_quotients(total, number, result_type)
    elif isinstance(result_type, types.DoubleType | types.FloatType):
        found = pc.divide(total.cast(pa.float64()), number.cast(pa.float64())).cast(kind)
    else:
        # Arrow truncates towards zero, as Java does.
        found = pc.divide(total.cast(pa.int64()), number).cast(kind, safe=False)
    return pc.if_else(pa.array(none), pa.scalar(None, kind), found)


def _decimal_quotients(total: Column, number: Column, result_type: types.DecimalType) -> Column:
    from decimal import ROUND_HALF_UP, Context, Decimal

    context = Context(prec=76, rounding=ROUND_HALF_UP)
    unit = Decimal(1).scaleb(-result_type.scale)
    values = [
        None if value is None else context.divide(value, Decimal(count)).quantize(unit, context=context)
        for value, count in zip(total.to_pylist(), number.to_pylist(), strict=True)
    ]
    limit = Decimal(10) ** (result_type.precision - result_type.scale)
    fitting = [None if value is None or value.copy_abs() >= limit else value for value in values]
    return pa.array(fitting, arrow_type(result_type))


def _nullable(site: AggregateSite, data_type: types.DataType) -> types.DataType:
    """Return a result's type: it is never NULL if no value is, and each group has a row."""
    return data_type if site.is_grouped and not site.arguments[0].type.is_nullable else data_type.nullable()


def _check_count(site: AggregateSite) -> None:
    if len(site.arguments) != 1:
        raise SignatureError(f"Invalid number of arguments to function '{site.name}'. Was expecting 1 arguments")


def _infer_sum(site: AggregateSite) -> Signature:
    _check_count(site)
    if not isinstance(site.types[0], (types.NumericType, *_INTERVAL)):
        raise refuse(site, f"'{site.name}(<NUMERIC>)'")
    return Signature(site.types, _nullable(site, sum_type(site.types[0])))


def _infer_sum0(site: AggregateSite) -> Signature:
    signature = _infer_sum(site)
    return Signature(signature.argument_types, signature.result_type.not_null())


def _infer_average(site: AggregateSite) -> Signature:
    _check_count(site)
    if not isinstance(site.types[0], (types.NumericType, *_INTERVAL)):
        raise refuse(site, "'AVG(<NUMERIC>)'")
    return Signature(site.types, _nullable(site, average_type(site.types[0])))


def _make_average(site: AggregateSite, result_type: types.DataType) -> Accumulator:
    return Average(result_type, narrow=site.is_over)


_SUM: Final = AggregateProperties(
    mergeable=True,
    order_free=True,
    distinct_free=False,
    selects_value=False,
    value_of_nothing=None,
    is_value_of_one_row=True,
    is_constant_of_nothing=True,
    growth=0,
)
FUNCTIONS = (
    AggregateFunction(
        "SUM",
        _infer_sum,
        lambda site, result_type: Sum(result_type, zero=False),
        _SUM,
        retractable_state_names=("sum", "count"),
    ),
    AggregateFunction(
        "$SUM0",
        _infer_sum0,
        lambda site, result_type: Sum(result_type, zero=True),
        replace(_SUM, value_of_nothing=0, is_value_of_one_row=False, is_constant_of_nothing=False),
        state_names=("sum",),
    ),
    AggregateFunction(
        "AVG",
        _infer_average,
        _make_average,
        replace(_SUM, is_value_of_one_row=False),
        state_names=("sum", "count"),
    ),
)
