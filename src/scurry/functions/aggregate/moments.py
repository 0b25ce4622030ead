"""STDDEV_POP, STDDEV_SAMP, VAR_POP and VAR_SAMP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.functions.aggregate.definition import Accumulator, AggregateFunction, AggregateSite, Column, Groups
from scurry.functions.aggregate.grouped import by_arrow, counts, valid_rows
from scurry.functions.definition import Signature
from scurry.functions.signatures import refuse
from scurry.logical_types import DataType, NumericType
from scurry.logical_types.arithmetic import average_type
from scurry.logical_types.arrow import arrow_type

__all__ = ["FUNCTIONS"]


class Moments:
    """Spread of values; the state has their number, their mean and the sum of squared distances from it."""

    def __init__(self, result_type: DataType, sample: bool, root: bool) -> None:
        self._type = arrow_type(result_type)
        self._sample = sample
        self._root = root

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        (column,), groups = valid_rows(columns, groups)
        values = np.asarray(column.cast(pa.float64()))
        number = np.bincount(groups, minlength=count)
        with np.errstate(all="ignore"):
            mean = np.bincount(groups, weights=values, minlength=count) / np.maximum(number, 1)
            squares = np.bincount(groups, weights=(values - mean[groups]) ** 2, minlength=count)
        return [counts(groups, count), pa.array(mean), pa.array(squares)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        number, mean, squares = (np.asarray(each) for each in states)
        total = np.asarray(by_arrow(states[0], groups, count, "sum").fill_null(0))
        with np.errstate(all="ignore"):
            middle = np.bincount(groups, weights=mean * number, minlength=count) / np.maximum(total, 1)
            apart = squares + number * (mean - middle[groups]) ** 2
        return [pa.array(total), pa.array(middle), pa.array(np.bincount(groups, weights=apart, minlength=count))]

    def result(self, states: Sequence[Column]) -> Column:
        number, squares = np.asarray(states[0]), np.asarray(states[2])
        divisor = number - 1 if self._sample else number
        with np.errstate(all="ignore"):
            values = squares / np.maximum(divisor, 1)
            values = np.sqrt(values) if self._root else values
        found = pa.array(values, mask=divisor < 1)
        if pa.types.is_decimal(self._type):
            return _as_decimals(found, self._type)
        return (
            found.cast(self._type, safe=False) if not pa.types.is_integer(self._type) else _truncated(found, self._type)
        )


def _truncated(column: Column, kind: pa.DataType) -> Column:
    bits = kind.bit_width
    limit = float(2 ** (bits - 1))
    return (
        pc.trunc(column).cast(kind, safe=False)
        if bits == 64
        else pc.trunc(pc.min_element_wise(column, limit - 1)).cast(kind, safe=False)
    )


def _as_decimals(column: Column, kind: pa.DataType) -> Column:
    from decimal import ROUND_HALF_UP, Context, Decimal

    context = Context(prec=76, rounding=ROUND_HALF_UP)
    unit, limit = Decimal(1).scaleb(-kind.scale), Decimal(10) ** (kind.precision - kind.scale)
    values = [None if each is None else Decimal(each).quantize(unit, context=context) for each in column.to_pylist()]
    return pa.array([None if each is None or abs(each) >= limit else each for each in values], kind)


def _infer(site: AggregateSite) -> Signature:
    if len(site.arguments) != 1 or not isinstance(site.types[0], NumericType):
        raise refuse(site, f"'{site.name}(<NUMERIC>)'")
    data_type = average_type(site.types[0])
    nullable = not site.is_grouped or site.types[0].is_nullable
    return Signature(site.types, data_type.with_nullability(nullable))


def _make(site: AggregateSite, result_type: DataType, sample: bool, root: bool) -> Accumulator:
    return Moments(result_type, sample, root)


def _maker(sample: bool, root: bool) -> Callable[[AggregateSite, DataType], Accumulator]:
    return partial(_make, sample=sample, root=root)


FUNCTIONS = (
    AggregateFunction("STDDEV_POP", _infer, _maker(sample=False, root=True)),
    AggregateFunction("STDDEV_SAMP", _infer, _maker(sample=True, root=True), aliases=("STDDEV",)),
    AggregateFunction("VAR_POP", _infer, _maker(sample=False, root=False)),
    AggregateFunction("VAR_SAMP", _infer, _maker(sample=True, root=False), aliases=("VARIANCE",)),
)
