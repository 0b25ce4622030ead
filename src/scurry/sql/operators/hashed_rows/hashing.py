"""Hashes of rows, in whose order the rows of a key group are neighbours, and equality of rows with the same hash."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.runtime.keys import encode_key
from scurry.runtime.state.row_runs import HASH_BITS, Hashes
from scurry.sql.functions.keys import joint_codes
from scurry.sql.types.values import to_values

__all__ = ["HASH_BITS", "Hashes", "are_hashed_alike", "equal_rows", "groups_of", "in_groups", "row_hashes"]


_NULL = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0x5851F42D4C957F2D)


def row_hashes(columns: Sequence[pa.Array], rows: int, max_parallelism: int) -> Hashes:
    """Return a hash of each row that is the same in every process and release.

    Args:
        rows: How many rows they have, which matters if there are no columns.
    """
    found = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        values = _hashes_of(column)
        if column.null_count:
            values = np.where(np.asarray(column.is_null()), _NULL, values)
        found = _mixed(found * _FACTOR + values)
    return found % np.uint64(max_parallelism) << np.uint64(HASH_BITS) | found >> np.uint64(64 - HASH_BITS)


def groups_of(hashes: Hashes) -> Any:
    """Return the key groups of rows with some hashes."""
    return (hashes >> np.uint64(HASH_BITS)).astype(np.int64)


def in_groups(hashes: Hashes, groups: Hashes) -> Hashes:
    return groups << np.uint64(HASH_BITS) | hashes & np.uint64((1 << HASH_BITS) - 1)


def are_hashed_alike(one: pa.DataType, other: pa.DataType) -> bool:
    """Return whether equal values of two types have the same hash."""
    return bool(one == other or (pa.types.is_integer(one) and pa.types.is_integer(other)))


def _mixed(hashed: Hashes) -> Hashes:
    """Return hashes of which every bit depends on all bits (the finalizer of SplitMix64)."""
    hashed = (hashed ^ hashed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    hashed = (hashed ^ hashed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return hashed ^ hashed >> np.uint64(31)


def _hashes_of(column: pa.Array) -> Hashes:
    """Return a number for each value; NULLs have any."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _hashes_of_bytes(column)
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        column = column.view(pa.int32())
    elif pa.types.is_timestamp(kind):
        column = column.view(pa.int64())
    elif not pa.types.is_integer(kind):
        return np.fromiter((zlib.crc32(encode_key(value)) for value in to_values(column)), np.uint64, len(column))
    if column.null_count:
        column = column.fill_null(0)
    values: Hashes = column.to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    return values


def _hashes_of_bytes(column: pa.Array) -> Hashes:
    """Return the value of each text as a polynomial of its bytes, modulo 2**64."""
    _, offsets_buffer, data_buffer = column.buffers()
    if data_buffer is None:
        return np.zeros(len(column), dtype=np.uint64)
    offsets = np.frombuffer(offsets_buffer, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    data = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
    starts, lengths = offsets[:-1] - offsets[0], np.diff(offsets)
    powers = np.full(int(lengths.max(initial=0)) + 1, _FACTOR)
    powers = np.multiply.accumulate(powers)
    places = np.arange(len(data)) - np.repeat(starts, lengths)
    sums: Hashes = np.zeros(len(data) + 1, dtype=np.uint64)
    np.cumsum((data + np.uint64(1)) * powers[places], out=sums[1:])
    hashes: Hashes = sums[starts + lengths] - sums[starts]
    return hashes


def equal_rows(columns: Iterable[tuple[pa.Array, pa.Array]], null_equals_null: Iterable[bool], rows: int) -> Any:
    """Return which rows at the same places are equal.

    Args:
        columns: The columns to compare.
        null_equals_null: For each pair of columns, whether NULL equals NULL.
        rows: How many rows they have, which matters if there are no columns.
    """
    found = np.ones(rows, dtype=bool)
    for (one, other), nulls in zip(columns, null_equals_null, strict=True):
        found &= _equal_values(one, other, nulls)
    return found


def _equal_values(one: pa.Array, other: pa.Array, null_equals_null: bool) -> Any:
    if pa.types.is_nested(one.type) or pa.types.is_floating(one.type):  # NaN equals itself in a key
        left, right = joint_codes([one], [other], [null_equals_null])
        return (left == right) & (left >= 0)
    equal = pc.equal(one, other)
    found = np.asarray(equal.fill_null(False) if equal.null_count else equal)
    if null_equals_null and one.null_count:
        found = found | (np.asarray(one.is_null()) & np.asarray(other.is_null()))
    return found
