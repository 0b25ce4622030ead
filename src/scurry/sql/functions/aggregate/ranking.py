"""Functions of the place of a row in its window: ROW_NUMBER, RANK, LAG and the like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.aggregate.definition import (
    AggregateFunction,
    AggregateProperties,
    AggregateSite,
    Column,
    Partitions,
    PlaceFunction,
)
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.functions.signatures import refuse, refuse_call
from scurry.sql.types import BigIntType, DataType, DoubleType, IntegralType, LocalZonedTimestampType, NumericType


def _number(site: AggregateSite) -> Signature:
    if site.arguments:
        raise refuse_call(site)
    return Signature([], BigIntType(False))


def _fraction(site: AggregateSite) -> Signature:
    if site.arguments:
        raise refuse_call(site)
    return Signature([], DoubleType(False))


def _tile(site: AggregateSite) -> Signature:
    if len(site.arguments) != 1 or not isinstance(site.types[0], IntegralType):
        raise refuse_call(site)
    return Signature(site.types, BigIntType(False))


def _offset(site: AggregateSite) -> Signature:
    if not 1 <= len(site.arguments) <= 3:
        raise refuse_call(site)
    if len(site.arguments) > 1 and not isinstance(site.types[1], NumericType):
        raise refuse(site, f"'{site.name}(<ANY>)'\n'{site.name}(<ANY>, <NUMERIC>)'")
    types: list[DataType] = list(site.types)
    if isinstance(types[0], LocalZonedTimestampType):
        raise SignatureError("LeadLag aggregate function does not support type: ''TIMESTAMP_WITH_LOCAL_TIME_ZONE''.")
    result = types[0].nullable()
    if len(types) == 3:
        types[2] = types[0].with_nullability(types[2].is_nullable)
        # Flink calls it NOT NULL if the default is, and then shows NULLs as -1 or ''.
        result = types[0].with_nullability(types[0].is_nullable or types[2].is_nullable)
    return Signature(types, result)


def _row_number(columns: Sequence[Column], rows: Partitions) -> Column:
    return pa.array(rows.row - rows.start + 1)


def _rank(columns: Sequence[Column], rows: Partitions) -> Column:
    return pa.array(rows.peer_start - rows.start + 1)


def _dense_rank(columns: Sequence[Column], rows: Partitions) -> Column:
    is_first = (rows.peer_start == rows.row).astype(np.int64)
    numbers = np.cumsum(is_first)
    return pa.array(numbers - numbers[rows.start] + 1 if len(numbers) else numbers)


def _cume_dist(columns: Sequence[Column], rows: Partitions) -> Column:
    return pa.array((rows.peer_end - rows.start) / (rows.end - rows.start))


def _percent_rank(columns: Sequence[Column], rows: Partitions) -> Column:
    return pa.array((rows.peer_start - rows.start) / np.maximum(rows.end - rows.start - 1, 1))


def _ntile(columns: Sequence[Column], rows: Partitions) -> Column:
    buckets = np.asarray(columns[0]).astype(np.int64)
    if not buckets.all():
        raise EvaluationError("/ by zero")
    size, row = rows.end - rows.start, rows.row - rows.start
    small, larger = size // buckets, size % buckets
    edge = larger * (small + 1)
    in_large = row // np.maximum(small + 1, 1)
    in_small = larger + (row - edge) // np.maximum(small, 1)
    return pa.array(np.where(row < edge, in_large, in_small) + 1)


def _shifted(direction: int) -> Callable[[Sequence[Column], Partitions], Column]:
    def column(columns: Sequence[Column], rows: Partitions) -> Column:
        values = columns[0]
        offset = np.ones(len(rows.row), dtype=np.int64)
        if len(columns) > 1:
            offset = np.asarray(columns[1].fill_null(0)).astype(np.int64)
        target = rows.row + direction * offset
        outside = (target < rows.start) | (target >= rows.end)
        found = values.take(pa.array(np.where(outside, 0, target), mask=outside))
        if len(columns) > 2:
            found = pc.if_else(pa.array(outside), columns[2].cast(values.type), found)
        return found

    return column


_PROPERTIES: Final = AggregateProperties(
    mergeable=False,
    order_free=False,
    distinct_free=False,
    selects_value=False,
    value_of_nothing=None,
    is_value_of_one_row=False,
    is_constant_of_nothing=False,
    growth=0,
)


def _function(
    name: str,
    infer: Callable[[AggregateSite], Signature],
    place: PlaceFunction,
    at_places: Callable[[Sequence[Column], Partitions], Column],
    needs_order: bool = False,
    looks_ahead: bool = False,
) -> AggregateFunction:
    return AggregateFunction(
        name,
        infer,
        None,
        _PROPERTIES,
        takes_null_treatment=place is PlaceFunction.OFFSET,
        place=place,
        at_places=at_places,
        needs_order=needs_order,
        looks_ahead=looks_ahead,
    )


FUNCTIONS = (
    _function("ROW_NUMBER", _number, PlaceFunction.NUMBER, _row_number),
    _function("RANK", _number, PlaceFunction.NUMBER, _rank, needs_order=True),
    _function("DENSE_RANK", _number, PlaceFunction.NUMBER, _dense_rank, needs_order=True),
    _function("CUME_DIST", _fraction, PlaceFunction.FRACTION, _cume_dist, needs_order=True, looks_ahead=True),
    _function("PERCENT_RANK", _fraction, PlaceFunction.FRACTION, _percent_rank, needs_order=True, looks_ahead=True),
    _function("NTILE", _tile, PlaceFunction.TILE, _ntile, looks_ahead=True),
    _function("LAG", _offset, PlaceFunction.OFFSET, _shifted(-1)),
    _function("LEAD", _offset, PlaceFunction.OFFSET, _shifted(1), looks_ahead=True),
)
