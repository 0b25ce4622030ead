"""Columns to bytes and back: many slices of a batch at once, each a page's part of it.

A column is strings of bytes: which rows are not NULL (a byte for each; nothing if no row is NULL), the lengths of texts
(int32), and the values. A page is cut out of them and joined to others in some microseconds, where a message of Arrow's
IPC format takes a hundred.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.logical_types.values import from_values, to_values

__all__ = ["Part", "cut", "joined"]

#: The rows of a page, of one batch: their number, and the bytes of their columns.
Part: TypeAlias = "tuple[int, tuple[bytes, ...]]"

_OFFSET = np.dtype(np.int32)


def cut(batch: pa.RecordBatch, bounds: Any) -> list[Part]:
    """Return the rows between each bound and the next.

    Args:
        batch: The rows.
        bounds: An array of positions that rise, from 0 to the number of rows.
    """
    strings = [string for column in batch.columns for string in _cut_column(column, bounds)]
    counts = np.diff(bounds).tolist()
    if not strings:
        return [(count, ()) for count in counts]
    return list(zip(counts, zip(*strings, strict=True), strict=True))


def joined(parts: Iterable[Part], types: Sequence[pa.DataType]) -> list[pa.Array]:
    """Return the columns of the rows of some parts, one part after the other."""
    found = [part for part in parts if part[0]]
    counts = [count for count, _ in found]
    strings = zip(*(strings for _, strings in found), strict=True) if found else iter(lambda: (), None)
    return [_joined_column(kind, counts, strings) for kind in types]


def _cut_column(column: pa.Array, bounds: Any) -> list[list[bytes]]:
    kind = column.type
    if pa.types.is_null(kind):
        return []
    found = [_cut_values(_validity(column), bounds) if column.null_count else [b""] * (len(bounds) - 1)]
    if _is_fixed(kind):
        return [*found, _cut_values(_fixed_values(column), bounds)]
    if not _is_text(kind):
        column = pa.array([None if each is None else pickle.dumps(each, 5) for each in to_values(column)], pa.binary())
    offsets, data = _text(column)
    return [*found, _cut_values(np.diff(offsets), bounds), _cut_bytes(data, (offsets[bounds] - offsets[0]).tolist())]


def _joined_column(kind: pa.DataType, counts: list[int], strings: Any) -> pa.Array:
    rows = sum(counts)
    if pa.types.is_null(kind):
        return pa.nulls(rows)
    validity = _joined_validity(next(strings), counts)
    values = b"".join(next(strings))
    if pa.types.is_boolean(kind):
        return pa.Array.from_buffers(kind, rows, [validity, _bits(values)])
    if _is_fixed(kind):
        return pa.Array.from_buffers(kind, rows, [validity, pa.py_buffer(values)])
    offsets = np.zeros(rows + 1, _OFFSET)
    np.cumsum(np.frombuffer(values, _OFFSET), out=offsets[1:])
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(b"".join(next(strings)))]
    if _is_text(kind):
        return pa.Array.from_buffers(kind, rows, buffers)
    pickled = pa.Array.from_buffers(pa.binary(), rows, buffers).to_pylist()
    return from_values([None if each is None else pickle.loads(each) for each in pickled], kind)


def _is_fixed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal128(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _validity(column: pa.Array) -> Any:
    return np.asarray(column.is_valid()).view(np.uint8)


def _fixed_values(column: pa.Array) -> Any:
    """Return the values of a column as an array whose rows are those of the column; those of NULLs are any."""
    if pa.types.is_boolean(column.type):
        return np.asarray(column.fill_null(False)).view(np.uint8)
    width = column.type.byte_width
    if not len(column):
        return np.zeros((0, width), np.uint8)
    values = np.frombuffer(column.buffers()[1], np.uint8)
    return values[column.offset * width : (column.offset + len(column)) * width].reshape(len(column), width)


def _text(column: pa.Array) -> tuple[Any, memoryview]:
    """Return the offsets of texts, and their bytes from the first offset on."""
    _, offsets_buffer, data = column.buffers()
    offsets = np.frombuffer(offsets_buffer, _OFFSET)[column.offset : column.offset + len(column) + 1]
    return offsets, memoryview(b"" if data is None else data)[int(offsets[0]) : int(offsets[-1])]


def _cut_values(values: Any, bounds: Any) -> list[bytes]:
    width = values.nbytes // max(len(values), 1)
    return _cut_bytes(memoryview(values.tobytes()), (bounds * width).tolist())


def _cut_bytes(data: memoryview, bounds: list[int]) -> list[bytes]:
    return [data[start:stop].tobytes() for start, stop in zip(bounds, bounds[1:], strict=False)]


def _joined_validity(strings: Sequence[bytes], counts: list[int]) -> pa.Buffer | None:
    if not any(strings):
        return None
    return _bits(b"".join(string or b"\1" * count for string, count in zip(strings, counts, strict=True)))


def _bits(values: bytes) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.frombuffer(values, np.uint8), bitorder="little").tobytes())
