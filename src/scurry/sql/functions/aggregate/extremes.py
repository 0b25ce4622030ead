"""MIN, MAX, FIRST_VALUE, LAST_VALUE and the single value of a subquery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.aggregate.definition import (
    Accumulator,
    AggregateFunction,
    AggregateProperties,
    AggregateSite,
    BatchState,
    Column,
    Groups,
    Selecting,
)
from scurry.sql.functions.aggregate.grouped import counts, first_positions, taken, valid_rows
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.functions.keys import order_codes
from scurry.sql.types import ArrayType, MapType, MultisetType, RowType


class Extreme(Selecting):
    """Keeps the least or the greatest value.

    Flink replaces the value by a lesser one, as Java's `<` compares: zeros are equal, of which the first stays, and NaN
    is neither less nor greater, so that it stays if it is first and has no effect otherwise. Bounded frames of
    STREAMING, from which rows are taken back, have Java's total order instead.
    """

    def __init__(self, greatest: bool, by_total_order: bool = False) -> None:
        self.greatest = greatest
        self._by_total_order = by_total_order

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        (column,), groups = valid_rows(columns[:1], groups)
        if pa.types.is_floating(column.type) and self._by_total_order:
            order = _total_order(column, self.greatest)
        elif pa.types.is_floating(column.type):
            order = self._float_codes(column, first_positions(groups)[1])
        elif (numbers := _whole_numbers(column)) is None:
            order = order_codes(column, descending=self.greatest, nulls_first=False)
        else:
            order = ~numbers if self.greatest else numbers
        return [taken(column, *first_positions(groups, order), count)]

    def replaces(self, new: Column, kept: Column) -> Groups | None:
        kind = new.type
        if pa.types.is_floating(kind) or not (pa.types.is_primitive(kind) or pa.types.is_string(kind)):
            return None
        found = (pc.greater if self.greatest else pc.less)(new, kept)
        replaced = np.array(found.fill_null(False))
        if found.null_count:
            replaced |= np.asarray(new.is_valid()) & np.asarray(kept.is_null())
        return replaced

    def ranks(self, column: Column, heads: Groups) -> Groups:
        if not pa.types.is_floating(column.type):
            return -order_codes(column, descending=self.greatest, nulls_first=False)
        rows = np.flatnonzero(np.asarray(column.is_valid()))
        ranks = np.full(len(column), -len(column) - 1)
        _, first = np.unique(np.searchsorted(heads, rows, side="right"), return_index=True)
        ranks[rows] = -self._float_codes(column.drop_null(), first)
        return ranks

    def _float_codes(self, column: Column, first: Groups) -> Groups:
        """Return numbers of which the first one that is least belongs to the value that stays.

        Args:
            column: The values of some groups, without NULL.
            first: The positions of the first ones of each group.
        """
        values = np.asarray(column)
        _, codes = np.unique((-values if self.greatest else values) + 0.0, return_inverse=True)
        codes = codes.reshape(-1).astype(np.int64)
        codes[first[np.isnan(values[first])]] = -1
        return codes


def _total_order(column: Column, greatest: bool) -> Groups:
    """Return ints in the order of numbers: -0.0 is less than 0.0, and NaN is the greatest."""
    values = np.asarray(column).astype(np.float64)
    bits = np.where(np.isnan(values), np.nan, values).view(np.int64)
    order = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    return ~order if greatest else order


def _whole_numbers(column: Column) -> Groups | None:
    """Return values that are not NULL as ints in the same order; None if they are no whole numbers or times."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.int64())
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        column = column.cast(pa.int32())
    elif not pa.types.is_integer(kind):
        return None
    return np.asarray(column).astype(np.int64)


class AtEnd(Selecting):
    """Keeps the first or the last value that is not NULL."""

    def __init__(self, last: bool) -> None:
        self._last = last

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        (column,), groups = valid_rows(columns[:1], groups)
        if not self._last:
            return [taken(column, *first_positions(groups), count)]
        present, positions = first_positions(groups[::-1])
        return [taken(column, present, len(groups) - 1 - positions, count)]

    def ranks(self, column: Column, heads: Groups) -> Groups:
        valid = np.asarray(column.is_valid())
        return np.where(valid, np.arange(1, len(valid) + 1) if self._last else 1, 0)


class Single(Accumulator):
    """Keeps the only value, NULL too; more rows are an error."""

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return self._checked([taken(columns[0], *first_positions(groups), count), counts(groups, count)])

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        used = pc.greater(states[1], 0)
        groups = groups[used.to_numpy(zero_copy_only=False)]
        return self.partial([states[0].filter(used)], groups, count)

    def result(self, states: Sequence[Column]) -> Column:
        return states[0]

    def _checked(self, states: list[Column]) -> list[Column]:
        if pc.any(pc.greater(states[1], 1)).as_py():
            raise EvaluationError("SingleValueAggFunction received more than one element.")
        return states


def _infer_value(site: AggregateSite) -> Signature:
    if len(site.arguments) != 1:
        raise SignatureError(f"Invalid number of arguments to function '{site.name}'. Was expecting 1 arguments")
    argument = site.types[0]
    nullable = argument.is_nullable or not site.is_grouped
    return Signature(site.types, argument.with_nullability(nullable))


def _infer_extreme(site: AggregateSite) -> Signature:
    signature = _infer_value(site)
    if isinstance(site.types[0], ArrayType | MapType | MultisetType | RowType):
        name = site.types[0].type_name()
        raise SignatureError(f"{site.name.capitalize()} aggregate function does not support type: ''{name}''.")
    return signature


def _extreme(site: AggregateSite, greatest: bool) -> Extreme:
    return Extreme(greatest, by_total_order=site.is_over and site.session.is_streaming)


_MAX: Final = AggregateProperties(
    mergeable=True,
    order_free=True,
    distinct_free=True,
    selects_value=True,
    value_of_nothing=None,
    is_value_of_one_row=True,
    is_constant_of_nothing=True,
    growth=1,
)
_AT_END: Final = replace(
    _MAX,
    mergeable=False,
    order_free=False,
    distinct_free=False,
    is_value_of_one_row=False,
    is_constant_of_nothing=False,
    growth=0,
)
FUNCTIONS = (
    AggregateFunction(
        "MIN", _infer_extreme, lambda site, result_type: _extreme(site, greatest=False), replace(_MAX, growth=-1)
    ),
    AggregateFunction("MAX", _infer_extreme, lambda site, result_type: _extreme(site, greatest=True), _MAX),
    AggregateFunction(
        "FIRST_VALUE",
        _infer_value,
        lambda site, result_type: AtEnd(last=False),
        _AT_END,
        batch_state=BatchState.WHOLE,
    ),
    AggregateFunction(
        "LAST_VALUE",
        _infer_value,
        lambda site, result_type: AtEnd(last=True),
        _AT_END,
        batch_state=BatchState.WHOLE,
    ),
    AggregateFunction(
        "SINGLE_VALUE",
        _infer_value,
        lambda site, result_type: Single(),
        replace(_AT_END, mergeable=True, order_free=True, selects_value=False),
        state_names=("value", "count"),
    ),
)
