"""The columns of pages of earlier versions.

A column is strings of bytes: which rows are not NULL (a byte for each; nothing if no row is NULL), the lengths of texts
(int32), and the values.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.sql.types.values import from_values

#: The rows of a page, of one batch: their number, and the bytes of their columns.
PagePart: TypeAlias = "tuple[int, tuple[bytes, ...]]"

_OFFSET = np.dtype(np.int32)


def joined(parts: Iterable[PagePart], types: Sequence[pa.DataType]) -> list[pa.Array]:
    """Return the columns of the rows of some parts, one part after the other."""
    found = [part for part in parts if part[0]]
    counts = [count for count, _ in found]
    strings = zip(*(strings for _, strings in found), strict=True) if found else iter(lambda: (), None)
    return [_joined_column(kind, counts, strings) for kind in types]


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


def _joined_validity(strings: Sequence[bytes], counts: list[int]) -> pa.Buffer | None:
    if not any(strings):
        return None
    return _bits(b"".join(string or b"\1" * count for string, count in zip(strings, counts, strict=True)))


def _bits(values: bytes) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.frombuffer(values, np.uint8), bitorder="little").tobytes())
