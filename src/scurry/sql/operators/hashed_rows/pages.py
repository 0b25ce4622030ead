"""Pages of rows, which earlier versions stored: they are read when rows of their key group are touched.

A page has the parts of all tables, cut out of batches. Large pages were stored in chunks, in place of pages below them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.runtime.keys import CanonicalKey, row_keys
from scurry.runtime.state.backend import Index
from scurry.runtime.state.layout import Page, PageContent
from scurry.runtime.state.row_runs import Part
from scurry.sql.evaluation.batch.batches import arrow_batch, taken
from scurry.sql.operators.hashed_rows.hashing import row_hashes
from scurry.sql.types.values import from_values, to_values

#: Some rows of one table: the number of the page in whose place they are stored, and how many bytes they have in
#: memory.
Chunk: TypeAlias = "tuple[int, int]"


class ChunkedPage:
    """A page in chunks.

    Attributes:
        hashed: The hash of all rows; None if they have different ones.
        chunks: The chunks of each table, the oldest first.
    """

    __slots__ = ("chunks", "hashed")

    def __init__(self, hashed: int | None, chunks: list[list[Chunk]]) -> None:
        self.hashed = hashed
        self.chunks = chunks

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the attributes without their names."""
        return ChunkedPage, (self.hashed, self.chunks)


@dataclass
class RowIndex(Index):
    """The index of a key group with, by number, its pages that are stored in chunks."""

    chunked: dict[int, ChunkedPage] = field(default_factory=dict)


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


if TYPE_CHECKING:
    from scurry.sql.operators.hashed_rows.tables import Table

_CODEC = pa.Codec("lz4_raw")


class RowPage(PageContent):
    """Stored content of a page.

    Args:
        size: The size of what is compressed.
        packed: The part of each table, and the pickled names, types and keys of the tables, pickled and compressed.
    """

    def __init__(self, size: int, packed: bytes) -> None:
        self._stored = size, packed

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the stored form."""
        return RowPage, self._stored

    @property
    def parts(self) -> tuple[PagePart, ...]:
        return self._content()[0]

    def entries(self) -> Page:
        """Return the rows of each key, by the name of their table."""
        found: Page = {}
        parts, layout = self._content()
        for part, (name, types, key) in zip(parts, pickle.loads(layout), strict=True):
            entries_of(found, name, joined([part], types), key, part[0])
        return found

    def _content(self) -> tuple[tuple[PagePart, ...], bytes]:
        size, packed = self._stored
        content: tuple[tuple[PagePart, ...], bytes] = pickle.loads(_CODEC.decompress(packed, size))
        return content


def entries_of(found: Page, name: str, columns: Sequence[pa.Array], key: Sequence[int], rows: int) -> None:
    """Add the rows of a table to those of each key.

    Args:
        found: The rows of each key, by the name of their table.
        key: The positions of those of its key.
        rows: How many rows it has.
    """
    values = [to_values(column) for column in columns]
    keys: list[CanonicalKey] = row_keys([values[place] for place in key]) if key else [b""] * rows
    for owner, row in zip(keys, zip(*values, strict=True) if values else [()] * rows, strict=True):
        found.setdefault(owner, {}).setdefault(name, []).append(row)


class RowPages:
    """Read the pages of a key group."""

    def __init__(self, tables: Sequence[Table], max_parallelism: int) -> None:
        self._tables = tables
        self._max_parallelism = max_parallelism

    def numbers(self, first: Any) -> list[int]:
        """Return the numbers of the pages of a group besides the first, given the content of that."""
        if not isinstance(first, RowIndex):
            return []
        whole = [number for number in first.leaves() if number not in first.chunked]
        chunks = [number for page in first.chunked.values() for some in page.chunks for number, _ in some]
        return [*whole, *chunks]

    def parts(self, contents: Iterable[Any]) -> list[Part]:
        """Return the rows of each table, given the contents of all pages in the order of `numbers`."""
        pages = [page.parts for page in contents if isinstance(page, RowPage)]
        return [self._part(table, [page[place] for page in pages]) for place, table in enumerate(self._tables)]

    def _part(self, table: Table, parts: list[PagePart]) -> Part:
        columns, rows = joined(parts, table.schema.types), sum(count for count, _ in parts)
        batch = arrow_batch(columns, table.schema.names, rows)
        key = [batch.column(column) for column in table.key]
        hashes = row_hashes(key, batch.num_rows, self._max_parallelism)
        order = np.argsort(hashes, kind="stable")
        return Part(hashes[order], np.zeros(0, np.uint64), taken(batch, order))
