"""Pages of rows, which earlier versions stored: they are read when rows of their key group are touched.

A page has the parts of all tables, cut out of batches. Large pages were stored in chunks, in place of pages below them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.runtime.keys import CanonicalKey, row_keys
from scurry.runtime.state.layout import Page, PageContent
from scurry.runtime.state.row_runs import Part
from scurry.sql.evaluation.batch.batches import arrow_batch, taken
from scurry.sql.operators.hashed_rows.chunked_pages import RowIndex
from scurry.sql.operators.hashed_rows.encoding import PagePart, joined
from scurry.sql.operators.hashed_rows.hashing import row_hashes
from scurry.sql.types.values import to_values

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
        name: The name of the table.
        columns: Its columns.
        key: The positions of those of its key.
        rows: How many rows it has.
    """
    values = [to_values(column) for column in columns]
    keys: list[CanonicalKey] = row_keys([values[place] for place in key]) if key else [b""] * rows
    for owner, row in zip(keys, zip(*values, strict=True) if values else [()] * rows, strict=True):
        found.setdefault(owner, {}).setdefault(name, []).append(row)


class RowPages:
    """Read the pages of a key group.

    Args:
        tables: The tables.
        max_parallelism: The number of key groups.
    """

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
