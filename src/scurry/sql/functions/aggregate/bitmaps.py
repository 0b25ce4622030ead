"""Aggregates of bitmaps: BITMAP_BUILD_AGG, BITMAP_AND_AGG, BITMAP_OR_AGG, BITMAP_XOR_AGG, and their cardinalities."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import pyarrow as pa

from scurry.sql.functions.aggregate.definition import (
    Accumulator,
    AggregateFunction,
    AggregateProperties,
    AggregateSite,
    Column,
    Groups,
)
from scurry.sql.functions.bitmaps import Bits, bits_of, packed, unpacked
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.types import BigIntType, BitmapType, DataType, IntType, SmallIntType, TinyIntType

#: Takes the set of a group, None at first, and changes it by a value.
Take = Callable[[Bits | None, Any], Bits]


class Bitmaps(Accumulator):
    """Combines sets of numbers; the state is one bitmap, NULL where there were no values."""

    def __init__(self, take: Take, merge: Take, counts: bool) -> None:
        self._take = take
        self._merge = merge
        self._counts = counts

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [_combined(columns[0], groups, count, self._take)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [_combined(states[0], groups, count, self._merge)]

    def result(self, states: Sequence[Column]) -> Column:
        if not self._counts:
            return states[0]
        numbers = [None if each is None else len(unpacked(each)) for each in states[0].to_pylist()]
        return pa.array(numbers, pa.int64())


def _combined(column: Column, groups: Groups, count: int, take: Take) -> Column:
    found: list[Bits | None] = [None] * count
    for group, value in zip(groups.tolist(), column.to_pylist(), strict=True):
        if value is not None:
            found[group] = take(found[group], value)
    return pa.array([None if each is None else packed(each) for each in found], pa.binary())


def _with_number(bits: Bits | None, value: int) -> Bits:
    if bits is None:
        return bits_of([value])
    bits.add(value & 0xFFFF_FFFF)
    return bits


def _by(combine: Callable[[Bits, Bits], Bits]) -> Take:
    return lambda bits, value: unpacked(value) if bits is None else combine(bits, unpacked(value))


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


def _make(site: AggregateSite, result_type: DataType, take: Take, merge: Take) -> Accumulator:
    return Bitmaps(take, merge, isinstance(result_type, BigIntType))


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


def _functions() -> list[AggregateFunction]:
    numbers, bitmaps = (TinyIntType, SmallIntType, IntType), (BitmapType,)
    kinds: tuple[tuple[str, tuple[type[DataType], ...], Take, Take], ...] = (
        ("BUILD", numbers, _with_number, _by(operator.ior)),
        ("AND", bitmaps, _by(operator.iand), _by(operator.iand)),
        ("OR", bitmaps, _by(operator.ior), _by(operator.ior)),
        ("XOR", bitmaps, _by(operator.ixor), _by(operator.ixor)),
    )
    return [
        AggregateFunction(
            f"BITMAP_{kind}{suffix}_AGG",
            partial(_infer, accepted=accepted, result=result),
            partial(_make, take=take, merge=merge),
            _PROPERTIES,
        )
        for kind, accepted, take, merge in kinds
        for suffix, result in (("", BitmapType()), ("_CARDINALITY", BigIntType()))
    ]


FUNCTIONS: Final = tuple(_functions())
