"""The rows of a table that a micro-batch touches, and what is stored of a page of them."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.logical_types.arrow import arrow_type
from scurry.logical_types.values import to_values
from scurry.relational.schema import Schema
from scurry.runtime.keys import CanonicalKey, row_keys
from scurry.runtime.state.layout import Page, PageContent
from scurry.runtime.tables.batch.batches import concatenated, taken
from scurry.runtime.tables.streaming.hashed_rows.encoding import Part, joined
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes
from scurry.runtime.tables.streaming.hashed_rows.index import HashIndex

__all__ = ["RowPage", "Table"]


@dataclass(frozen=True)
class RowPage(PageContent):
    """What is stored of a page.

    Attributes:
        parts: The rows of each table.
        layout: The pickled name, column types and key of each table, which only tools need that inspect state.
    """

    parts: tuple[Part, ...]
    layout: bytes

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the attributes without their names."""
        return RowPage, (self.parts, self.layout)

    def entries(self) -> Page:
        """Return the rows of each key, by the name of their table."""
        found: Page = {}
        for part, (name, types, key) in zip(self.parts, pickle.loads(self.layout), strict=True):
            columns = [to_values(column) for column in joined([part], types)]
            keys: list[CanonicalKey] = row_keys([columns[place] for place in key]) if key else [b""] * part[0]
            for owner, row in zip(keys, zip(*columns, strict=True), strict=True):
                found.setdefault(owner, {}).setdefault(name, []).append(row)
        return found


@dataclass
class Table:
    """Rows of the same columns: those of the pages that a micro-batch touches.

    Attributes:
        name: What it is called in state.
        schema: Its columns.
        key: The positions of the columns whose hash decides the page of a row.
        batches: The rows.
        hashes: Their hashes.
        starts: The number of the first row of each batch, and the number of all rows.
        is_new: Which of the batches are of the micro-batch, not of pages.
        index: The numbers of the rows by hash.
        removed: By number, which rows are removed; empty if none is.
    """

    name: str
    schema: Schema
    key: Sequence[int]
    batches: list[pa.RecordBatch] = field(default_factory=list)
    hashes: list[Hashes] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    is_new: list[bool] = field(default_factory=list)
    index: HashIndex = field(default_factory=HashIndex)
    removed: Any = field(default_factory=lambda: np.zeros(0, bool))

    @property
    def types(self) -> list[pa.DataType]:
        """The types of the columns."""
        return [arrow_type(each.type) for each in self.schema]

    def add(self, batch: pa.RecordBatch, hashes: Hashes, is_new: bool = True) -> None:
        """Add rows."""
        if not batch.num_rows:
            return
        self.index.add(hashes, self.starts[-1], self.removed)
        self.batches.append(batch)
        self.hashes.append(hashes)
        self.is_new.append(is_new)
        self.starts.append(self.starts[-1] + batch.num_rows)
        if len(self.removed):
            self._grow()

    def find(self, hashes: Hashes) -> tuple[Any, Any]:
        """Find the rows with some hashes: see `HashIndex.find`."""
        places, numbers = self.index.find(hashes)
        if len(self.removed):
            there = ~self.removed[numbers]
            places, numbers = places[there], numbers[there]
        return places, numbers

    def remove(self, numbers: Any) -> None:
        """Remove the rows with some numbers."""
        if len(numbers):
            self._grow()
            self.removed[numbers] = True

    def _grow(self) -> None:
        """Let `removed` have all rows."""
        missing = self.starts[-1] - len(self.removed)
        if missing > 0:
            self.removed = np.concatenate([self.removed, np.zeros(missing + self.starts[-1], bool)])

    def rows(self, numbers: Any) -> pa.RecordBatch:
        """Return the rows with some numbers, in that order."""
        if len(self.batches) == 1:
            return taken(self.batches[0], numbers)
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        bounds = np.searchsorted(ordered, self.starts).tolist()
        some = [
            taken(batch, ordered[start:stop] - first)
            for batch, first, start, stop in zip(self.batches, self.starts, bounds, bounds[1:], strict=False)
            if stop > start
        ]
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        return taken(concatenated(some, self.schema), back)

    @property
    def width(self) -> float:
        """How many bytes a row has, on average."""
        return sum(int(batch.nbytes) for batch in self.batches) / max(self.starts[-1], 1)

    def clear(self) -> None:
        """Forget the rows."""
        self.__dict__.update(Table(self.name, self.schema, self.key).__dict__)
