"""Keys that sort as rows do, for comparisons row by row across batches."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from scurry.sql.plan.nodes import SortKey
from scurry.sql.types.values import to_values


def sort_keys(batch: pa.RecordBatch, order_by: Sequence[SortKey]) -> list[tuple[Any, ...]]:
    """Return a key for each row; keys of different batches may be compared, and pickled."""
    parts: list[list[Any]] = []
    for key in order_by:
        parts += _parts(batch.column(key.index), key)
    return list(zip(*parts, strict=True)) if parts else [()] * batch.num_rows


def _parts(column: pa.Array, key: SortKey) -> tuple[list[int], list[Any]]:
    """Return for each value its rank among NULL, values and NaN, and its sort key."""
    values = to_values(column)
    null = 0 if key.nulls_first else 3
    places = [null if value is None else 1 for value in values] if column.null_count else [1] * len(values)
    if pa.types.is_floating(column.type):
        # NaN is greater than any number.
        nan, number = (1, 2) if key.descending else (2, 1)
        places = [null if value is None else nan if value != value else number for value in values]
        values = [0.0 if value is None or value != value else value for value in values]
    elif column.null_count or pa.types.is_nested(column.type):
        values = [0 if value is None else _comparable(value) for value in values]
    if key.descending:
        reverse = _negated if _is_number(column.type) else _Descending
        values = [value if place == null else reverse(value) for place, value in zip(places, values, strict=True)]
    return places, values


def _is_number(kind: pa.DataType) -> bool:
    return not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_nested(kind)
    )


def _negated(value: Any) -> Any:
    return -value


def _comparable(value: Any) -> Any:
    """NULL inside a row or an array comes before everything, as Flink compares them."""
    if isinstance(value, list | tuple):
        return tuple((0,) if each is None else (1, _comparable(each)) for each in value)
    return value


@functools.total_ordering
class _Descending:
    """A value that sorts the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.value == other.value

    def __lt__(self, other: _Descending) -> bool:
        return bool(other.value < self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Descending, (self.value,)
