"""COUNT and APPROX_COUNT_DISTINCT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.aggregate.definition import (
    Accumulator,
    Additive,
    AggregateFunction,
    AggregateProperties,
    AggregateSite,
    Column,
    Groups,
)
from scurry.sql.functions.aggregate.grouped import by_arrow, counts, listed, merged_lists, valid_rows
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.functions.keys import first_of_each
from scurry.sql.types import ArrayType, BigIntType, BooleanType, DataType, MapType, MultisetType, NullType, RowType

_UNSUPPORTED = (BooleanType, ArrayType, MapType, MultisetType, RowType)


class Count(Additive):
    """Counts the rows in which no argument is NULL."""

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [counts(valid_rows(columns, groups)[1], count)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [by_arrow(states[0], groups, count, "sum").fill_null(0)]

    def result(self, states: Sequence[Column]) -> Column:
        return states[0]


class DistinctCount(Accumulator):
    """Counts the values that differ."""

    def __init__(self, data_type: DataType) -> None:
        self._type = data_type

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        (column,), groups = valid_rows(columns, groups)
        first = first_of_each(groups, [column])
        return [listed(column.take(pa.array(first)), groups[first], count)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        merged = merged_lists(states[0], groups, count)
        return self.partial([merged.flatten()], _groups_of(merged), count)

    def result(self, states: Sequence[Column]) -> Column:
        return pc.list_value_length(states[0]).cast(pa.int64())


def _groups_of(lists: Column) -> Groups:
    groups: Groups = np.repeat(np.arange(len(lists)), np.asarray(pc.list_value_length(lists)))
    return groups


def _infer_count(site: AggregateSite) -> Signature:
    if any(isinstance(each, NullType) for each in site.types):
        raise SignatureError("Illegal use of 'NULL'")
    return Signature(site.types, BigIntType(False))


def _infer_approximate(site: AggregateSite) -> Signature:
    if len(site.arguments) != 1:
        raise SignatureError("We now only support the count of one field.")
    if isinstance(site.types[0], _UNSUPPORTED):
        name = site.types[0].type_name()
        raise SignatureError(f"APPROX_COUNT_DISTINCT aggregate function does not support type: ''{name}''.")
    if site.session.is_streaming:
        raise SignatureError("APPROX_COUNT_DISTINCT aggregate function does not support yet for streaming.")
    return Signature(site.types, BigIntType(False))


def _make_count(site: AggregateSite, result_type: DataType) -> Accumulator:
    return Count()


def _make_approximate(site: AggregateSite, result_type: DataType) -> Accumulator:
    # With OVER Flink counts all values.
    return Count() if site.is_over else DistinctCount(site.types[0])


_COUNTS: Final = AggregateProperties(
    mergeable=True,
    order_free=True,
    distinct_free=False,
    selects_value=False,
    value_of_nothing=0,
    is_value_of_one_row=False,
    is_constant_of_nothing=True,
    growth=1,
)
FUNCTIONS = (
    AggregateFunction("COUNT", _infer_count, _make_count, _COUNTS),
    AggregateFunction(
        "APPROX_COUNT_DISTINCT",
        _infer_approximate,
        _make_approximate,
        replace(_COUNTS, is_constant_of_nothing=False, growth=0),
    ),
)
