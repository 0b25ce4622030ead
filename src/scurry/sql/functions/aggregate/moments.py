"""STDDEV_POP, STDDEV_SAMP, VAR_POP and VAR_SAMP."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from scurry.sql.functions.aggregate.definition import (
    Accumulator,
    Additive,
    AggregateFunction,
    AggregateProperties,
    AggregateSite,
    Column,
    Groups,
)
from scurry.sql.functions.aggregate.grouped import by_arrow, counts, valid_rows
from scurry.sql.functions.aggregate.sums import sums
from scurry.sql.functions.casts.numbers import doubles_of
from scurry.sql.functions.definition import Signature
from scurry.sql.functions.signatures import refuse
from scurry.sql.types import DataType, DecimalType, NumericType
from scurry.sql.types.arithmetic import average_type
from scurry.sql.types.arrow import arrow_type


class Moments(Additive):
    """Spread of numbers over windows of rows: `(sum of squares - square of sum / n) / n` in the type of the numbers.

    The state has the sum of the squares, the sum, and the number of values.
    """

    def __init__(self, result_type: DataType, sample: bool, root: bool) -> None:
        self._type = arrow_type(result_type)
        self._sample = sample
        self._root = root

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        (column,), groups = valid_rows(columns, groups)
        with np.errstate(all="ignore"):
            if not pa.types.is_float64(column.type):
                values = np.asarray(column)
                parts = [sums(pa.array(each), groups, count).fill_null(0) for each in (values * values, values)]
            else:
                values = np.asarray(doubles_of(column))
                parts = [pa.array(_float_sums(groups, each, count)) for each in (values * values, values)]
        return [*parts, counts(groups, count)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [by_arrow(each, groups, count, "sum").fill_null(0) for each in states]

    def result(self, states: Sequence[Column]) -> Column:
        squares, total, number = (np.asarray(each) for each in states)
        if pa.types.is_integer(self._type):
            return self._whole(squares, total, number)
        number = number.astype(squares.dtype)
        divisor = number - 1 if self._sample else number
        with np.errstate(all="ignore"):
            values = (squares - total * total / np.maximum(number, 1)) / np.maximum(divisor, 1)
            values = np.sqrt(values) if self._root else values
        return pa.array(values, mask=divisor < 1).cast(self._type, safe=False)

    def _whole(self, squares: Groups, total: Groups, number: Groups) -> Column:
        """Return whole numbers, whose sums, products and differences wrap and whose quotients are truncated."""
        divisor, kind = number - 1 if self._sample else number, self._type.to_pandas_dtype()
        with np.errstate(all="ignore"):
            square = total.astype(kind) * total.astype(kind)
            apart = squares.astype(kind) - _quotient(square, np.maximum(number, 1)).astype(kind)
            values = _quotient(apart, np.maximum(divisor, 1))
            if self._root:
                return _truncated(np.sqrt(values), divisor < 1, self._type)
        return pa.array(values, mask=divisor < 1).cast(self._type, safe=False)


def _float_sums(groups: Groups, values: Groups, count: int) -> Groups:
    """Return the sum of each group; numpy's are whole numbers if there are no values."""
    return np.bincount(groups, weights=values, minlength=count).astype(np.float64)


def _quotient(values: Groups, divisor: Groups) -> Groups:
    """Return quotients as Java truncates them, of positive divisors."""
    quotients: Groups = values // divisor
    quotients += (values < 0) & (quotients * divisor != values)
    return quotients


class StableMoments(Accumulator):
    """Spread of numbers; the state has their number, their mean and the sum of squared distances from it.

    Rows are added and taken back one by one (`advanced`), as Flink does; merging would round otherwise.
    """

    #: The types of the columns of a state.
    types: Final = (pa.int64(), pa.float64(), pa.float64())

    def __init__(self, result_type: DataType, sample: bool, root: bool) -> None:
        self._type = arrow_type(result_type)
        self._sample = sample
        self._root = root

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        (column,), groups = valid_rows(columns, groups)
        values = np.asarray(doubles_of(column))
        number = np.bincount(groups, minlength=count)
        with np.errstate(all="ignore"):
            mean = _float_sums(groups, values, count) / np.maximum(number, 1)
            squares = _float_sums(groups, (values - mean[groups]) ** 2, count)
        for group in np.flatnonzero(~np.isfinite(squares)):
            mean[group], squares[group] = _one_by_one(values[groups == group])
        return [counts(groups, count), pa.array(mean), pa.array(squares)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        number, mean, squares = (np.asarray(each) for each in states)
        total = np.asarray(by_arrow(states[0], groups, count, "sum").fill_null(0))
        with np.errstate(all="ignore"):
            middle = _float_sums(groups, mean * number, count) / np.maximum(total, 1)
            apart = squares + number * (mean - middle[groups]) ** 2
        return [pa.array(total), pa.array(middle), pa.array(_float_sums(groups, apart, count))]

    def result(self, states: Sequence[Column]) -> Column:
        number, squares = np.asarray(states[0]), np.asarray(states[2])
        divisor = number - 1 if self._sample else number
        with np.errstate(all="ignore"):
            values = squares / np.maximum(divisor, 1)
            values = np.sqrt(values) if self._root else values
        none = (divisor < 1) | (squares < 0)  # rounding may make the squares negative when rows are taken back
        found = pa.array(values, mask=none)
        if pa.types.is_decimal(self._type):
            return _as_decimals(found, self._type)
        if pa.types.is_integer(self._type):
            return _truncated(values, none, self._type)
        return found.cast(self._type, safe=False)

    def compared(self, states: Sequence[Column], values: Column) -> list[Column]:
        # Flink's planner makes an aggregate of the squares and one of the number, and divides behind the groups.
        return [states[0], states[2]]

    @staticmethod
    def advanced(state: tuple[int, float, float], value: float, sign: int) -> tuple[int, float, float]:
        """Return a state after a value is added, or taken back if the sign is -1."""
        count, mean, squares = state
        number = count + sign
        if number == 0:
            return 0, 0.0, 0.0
        delta = value - mean
        middle = mean + sign * (delta / number)
        return number, middle, squares + sign * (delta * (value - middle))


def _one_by_one(values: Groups) -> tuple[float, float]:
    """Return mean and squared distances as Flink computes them, which shows where numbers are too large."""
    mean = squares = np.float64(0.0)
    with np.errstate(all="ignore"):
        for number, value in enumerate(values, 1):
            delta = value - mean
            mean = mean + delta / number
            squares = squares + delta * (value - mean)
    return mean, squares


def _truncated(values: Groups, none: Groups, kind: pa.DataType) -> Column:
    """Return numbers as whole numbers as Java casts them: at the bounds of INT or BIGINT, then the low bits."""
    wide = 63 if kind.bit_width == 64 else 31
    with np.errstate(invalid="ignore"):
        bounded = np.clip(np.nan_to_num(values, posinf=2.0**wide), -(2.0**wide), np.nextafter(2.0**wide, 0))
    limit = 2**wide - 1
    whole = np.where(values >= float(limit), limit, bounded.astype(np.int64))
    return pa.array(whole, mask=none).cast(kind, safe=False)


def _as_decimals(column: Column, kind: pa.DataType) -> Column:
    from decimal import ROUND_HALF_UP, Context, Decimal

    context = Context(prec=76, rounding=ROUND_HALF_UP)
    unit, limit = Decimal(1).scaleb(-kind.scale), Decimal(10) ** (kind.precision - kind.scale)

    def fitting(value: float | None) -> Decimal | None:
        if value is None or not abs(value) < float(limit):
            return None
        rounded = Decimal(repr(value)).quantize(unit, context=context)
        return rounded if abs(rounded) < limit else None

    return pa.array([fitting(each) for each in column.to_pylist()], kind)


def _infer(site: AggregateSite) -> Signature:
    if len(site.arguments) != 1 or not isinstance(site.types[0], NumericType):
        raise refuse(site, f"'{site.name}(<NUMERIC>)'")
    data_type = average_type(site.types[0])
    nullable = not site.is_grouped or site.types[0].is_nullable
    return Signature(site.types, data_type.with_nullability(nullable))


def _make(site: AggregateSite, result_type: DataType, sample: bool, root: bool) -> Accumulator:
    kind = StableMoments if not site.is_over or isinstance(site.types[0], DecimalType) else Moments
    return kind(result_type, sample, root)


#: Name of a function: whether it is of a sample, whether it is a root.
SPREADS: Final = {
    "STDDEV_POP": (False, True),
    "STDDEV_SAMP": (True, True),
    "VAR_POP": (False, False),
    "VAR_SAMP": (True, False),
}
_ALIASES: Final = {"STDDEV_SAMP": ("STDDEV",), "VAR_SAMP": ("VARIANCE",)}
_PROPERTIES: Final = AggregateProperties(
    mergeable=True,
    order_free=True,
    distinct_free=False,
    selects_value=False,
    value_of_nothing=None,
    is_value_of_one_row=False,
    is_constant_of_nothing=False,
    growth=0,
)
FUNCTIONS = tuple(
    AggregateFunction(
        name, _infer, partial(_make, sample=sample, root=root), _PROPERTIES, aliases=_ALIASES.get(name, ())
    )
    for name, (sample, root) in SPREADS.items()
)
