"""Aggregates of bitmaps: BITMAP_BUILD_AGG, BITMAP_AND_AGG, BITMAP_OR_AGG, BITMAP_XOR_AGG, and their cardinalities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import pyarrow as pa

from scurry.sql.functions.aggregate.definition import Accumulator, AggregateFunction, AggregateSite, Column, Groups
from scurry.sql.functions.bitmaps import bitmap_of, members
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.types import BigIntType, BitmapType, DataType, IntType, SmallIntType, TinyIntType

__all__ = ["FUNCTIONS"]

Combine = Callable[[set[int], set[int]], set[int]]


class Bitmaps:
    """Combines sets of numbers; the state is one bitmap, NULL where there were no values."""

    def __init__(self, read: Callable[[Any], set[int]], combine: Combine, counts: bool) -> None:
        self._read = read
        self._combine = combine
        self._counts = counts

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [self._combined(columns[0], groups, count, self._read)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [self._combined(states[0], groups, count, _members)]

    def result(self, states: Sequence[Column]) -> Column:
        if not self._counts:
            return states[0]
        numbers = [None if each is None else len(members(each)) for each in states[0].to_pylist()]
        return pa.array(numbers, pa.int64())

    def _combined(self, column: Column, groups: Groups, count: int, read: Callable[[Any], set[int]]) -> Column:
        found: list[set[int] | None] = [None] * count
        for group, value in zip(groups.tolist(), column.to_pylist(), strict=True):
            if value is not None:
                before, each = found[group], read(value)
                found[group] = each if before is None else self._combine(before, each)
        return pa.array([None if each is None else bitmap_of(each) for each in found], pa.binary())


def _members(bitmap: bytes) -> set[int]:
    return set(members(bitmap))


def _number(value: int) -> set[int]:
    return {value & 0xFFFF_FFFF}


def _infer(site: AggregateSite, accepted: tuple[type[DataType], ...], result: DataType) -> Signature:
    if len(site.arguments) != 1:
        raise SignatureError(f"No match found for function signature {site.name}()")
    if not isinstance(site.types[0], accepted):
        expected = " | ".join(each.type_name() for each in accepted)
        raise SignatureError(
            f"Unsupported argument type. Expected type root '{expected}' but actual type was "
            f"'{site.types[0].as_summary_string()}'."
        )
    return Signature(site.types, result)


def _make(site: AggregateSite, result_type: DataType, read: Callable[[Any], set[int]], combine: Combine) -> Accumulator:
    return Bitmaps(read, combine, isinstance(result_type, BigIntType))


def _functions() -> list[AggregateFunction]:
    numbers, bitmaps = (TinyIntType, SmallIntType, IntType), (BitmapType,)
    kinds = (
        ("BUILD", numbers, _number, set.union),
        ("AND", bitmaps, _members, set.intersection),
        ("OR", bitmaps, _members, set.union),
        ("XOR", bitmaps, _members, set.symmetric_difference),
    )
    return [
        AggregateFunction(
            f"BITMAP_{kind}{suffix}_AGG",
            partial(_infer, accepted=accepted, result=result),
            partial(_make, read=read, combine=combine),
        )
        for kind, accepted, read, combine in kinds
        for suffix, result in (("", BitmapType()), ("_CARDINALITY", BigIntType()))
    ]


FUNCTIONS: Final = tuple(_functions())
