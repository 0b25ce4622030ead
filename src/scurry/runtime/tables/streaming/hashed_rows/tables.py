"""The rows of a table that a micro-batch touches, and what is stored of a page of them."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.logical_types.values import to_values
from scurry.runtime.keys import CanonicalKey, row_keys
from scurry.runtime.state.layout import Page, PageContent
from scurry.runtime.tables.batch.batches import arrow_batch, concatenated_columns, taken
from scurry.runtime.tables.streaming.hashed_rows.encoding import Part, joined
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes
from scurry.runtime.tables.streaming.hashed_rows.index import HashIndex

__all__ = ["RowPage", "Table", "layout"]


#: Halves what is moved to the store, and costs less than moving it.
_CODEC = pa.Codec("lz4_raw")


class RowPage(PageContent):
    """What is stored of a page.

    Args:
        size: The size of what is compressed.
        packed: The part of each table and the `layout` of the tables, pickled and compressed.
    """

    def __init__(self, size: int, packed: bytes) -> None:
        self._stored = size, packed

    @classmethod
    def of(cls, parts: tuple[Part, ...], layout: bytes) -> RowPage:
        """Return a page of some parts, one of each table."""
        content = pickle.dumps((parts, layout), 5)
        return cls(len(content), _CODEC.compress(content, asbytes=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what is stored."""
        return RowPage, self._stored

    @property
    def parts(self) -> tuple[Part, ...]:
        """The part of each table."""
        return self._content()[0]

    def entries(self) -> Page:
        """Return the rows of each key, by the name of their table."""
        found: Page = {}
        parts, layout = self._content()
        for part, (name, types, key) in zip(parts, pickle.loads(layout), strict=True):
            columns = [to_values(column) for column in joined([part], types)]
            keys: list[CanonicalKey] = row_keys([columns[place] for place in key]) if key else [b""] * part[0]
            for owner, row in zip(keys, zip(*columns, strict=True), strict=True):
                found.setdefault(owner, {}).setdefault(name, []).append(row)
        return found

    def _content(self) -> tuple[tuple[Part, ...], bytes]:
        size, packed = self._stored
        content: tuple[tuple[Part, ...], bytes] = pickle.loads(_CODEC.decompress(packed, size))
        return content


def layout(tables: Sequence[Table]) -> bytes:
    """Return what tools have to know of tables: their names, the types of their columns, their key."""
    return pickle.dumps([(table.name, table.types, tuple(table.key)) for table in tables], 5)


@dataclass
class Table:
    """Rows of the same columns: those of the pages that a micro-batch touches.

    Attributes:
        name: What it is called in state.
        schema: The names and types of its columns.
        key: The positions of the columns whose hash decides the page of a row.
        batches: The rows.
        starts: The number of the first row of each batch, and the number of all rows.
        is_new: Which of the batches are of the micro-batch, not of pages.
        is_loaded_late: Whether rows of pages have higher numbers than some of the micro-batch.
        index: The numbers of the rows by hash.
        removed: By number, which rows are removed; empty if none is.
        removed_hashes: The hashes of removed rows.
    """

    name: str
    schema: pa.Schema
    key: Sequence[int]
    batches: list[pa.RecordBatch] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    is_new: list[bool] = field(default_factory=list)
    is_loaded_late: bool = False
    index: HashIndex = field(default_factory=HashIndex)
    removed: Any = field(default_factory=lambda: np.zeros(0, bool))
    removed_hashes: list[Hashes] = field(default_factory=list)

    @property
    def types(self) -> list[pa.DataType]:
        """The types of the columns."""
        return list(self.schema.types)

    def batch_of(self, parts: Sequence[Part]) -> pa.RecordBatch:
        """Return the rows of some parts of pages."""
        return arrow_batch(joined(parts, self.types), self.schema.names, sum(count for count, _ in parts))

    def concatenated(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Return the rows of several batches in one."""
        if not batches:
            return self.batch_of([])
        return arrow_batch(concatenated_columns(batches), self.schema.names, sum(each.num_rows for each in batches))

    def add(self, batch: pa.RecordBatch, hashes: Hashes, is_new: bool = True) -> None:
        """Add rows."""
        if not batch.num_rows:
            return
        self.index.add(hashes, self.starts[-1], self.removed)
        self.batches.append(batch)
        self.is_loaded_late |= not is_new and any(self.is_new)
        self.is_new.append(is_new)
        self.starts.append(self.starts[-1] + batch.num_rows)
        if len(self.removed):
            self._grow()

    def find(self, hashes: Hashes) -> tuple[Any, Any]:
        """Find the rows with some hashes as `HashIndex.find`, those of one hash in the order in which they came."""
        places, numbers = self.index.find(hashes)
        if len(self.removed):
            there = ~self.removed[numbers]
            places, numbers = places[there], numbers[there]
        if self.is_loaded_late and len(numbers):
            # Rows of pages are older than those of the micro-batch, whatever their numbers are.
            is_new = np.asarray(self.is_new)[np.searchsorted(self.starts, numbers, side="right") - 1]
            order = np.lexsort((numbers, is_new, places))
            places, numbers = places[order], numbers[order]
        return places, numbers

    def remove(self, numbers: Any, hashes: Hashes) -> None:
        """Remove the rows with some numbers, which have some hashes."""
        if len(numbers):
            self._grow()
            self.removed[numbers] = True
            self.removed_hashes.append(hashes)

    def _grow(self) -> None:
        """Let `removed` have all rows."""
        missing = self.starts[-1] - len(self.removed)
        if missing > 0:
            self.removed = np.concatenate([self.removed, np.zeros(missing + self.starts[-1], bool)])

    def rows(self, numbers: Any) -> pa.RecordBatch:
        """Return the rows with some numbers, in that order."""
        if len(self.batches) == 1:
            return taken(self.batches[0], numbers)
        order = np.argsort(numbers)
        ordered = numbers[order]
        bounds = np.searchsorted(ordered, self.starts).tolist()
        some = [
            taken(batch, ordered[start:stop] - first)
            for batch, first, start, stop in zip(self.batches, self.starts, bounds, bounds[1:], strict=False)
            if stop > start
        ]
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        return taken(self.concatenated(some), back)

    @property
    def width(self) -> float:
        """How many bytes a row has, on average."""
        return sum(int(batch.nbytes) for batch in self.batches) / max(self.starts[-1], 1)
