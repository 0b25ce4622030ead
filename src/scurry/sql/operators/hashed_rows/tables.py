"""The rows of a table that a micro-batch touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.runtime.state.layout import Page, RowsDescription
from scurry.runtime.state.row_runs import Hashes, RowRun
from scurry.sql.evaluation.batch.batches import arrow_batch, concatenated_columns, taken
from scurry.sql.operators.hashed_rows.index import HashIndex
from scurry.sql.operators.hashed_rows.pages import RowPage, entries_of

#: Earlier versions stored pages under the name that they have here.
__all__ = ["Description", "RowPage", "Table"]


class Description(RowsDescription):
    """Description of tables for tools.

    Args:
        tables: For each its name, its columns, and the positions of those of its key.
    """

    def __init__(self, tables: Sequence[tuple[str, pa.Schema, Sequence[int]]]) -> None:
        self._tables = tables

    @property
    def schemas(self) -> list[pa.Schema]:
        """The columns of each table."""
        return [schema for _, schema, _ in self._tables]

    def entries(self, run: RowRun) -> Page:
        """Return the rows of each key, by the name of their table."""
        found: Page = {}
        for place, (name, schema, key) in enumerate(self._tables):
            batch = run.batch(place, schema)
            entries_of(found, name, batch.columns, key, batch.num_rows)
        return found


@dataclass
class Table:
    """Rows of the same columns: those of the pages that a micro-batch touches.

    Attributes:
        name: What it is called in state.
        schema: The names and types of its columns.
        key: The positions of the columns whose hash decides the page of a row.
        starts: The number of the first row of each batch, and the number of all rows.
        is_new: Which of the batches are of the micro-batch, not of pages.
        is_loaded_late: Whether rows of pages have higher numbers than some of the micro-batch.
        index: The numbers of the rows by hash.
        removed: By number, which rows are removed; empty if none is.
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

    def concatenated(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Return the rows of several batches in one."""
        if not batches:
            return arrow_batch([pa.array([], kind) for kind in self.schema.types], self.schema.names, 0)
        return arrow_batch(concatenated_columns(batches), self.schema.names, sum(each.num_rows for each in batches))

    def add(self, batch: pa.RecordBatch, hashes: Hashes, is_new: bool = True) -> None:
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

    def in_schema(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows, whose columns may have other names, as they are kept."""
        if not batch.num_columns:
            return batch
        pairs = zip(batch.columns, self.schema.types, strict=True)
        columns = [column if column.type == kind else column.cast(kind) for column, kind in pairs]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def new_rows(self) -> Any:
        """Return by number which rows are of the micro-batch."""
        return np.repeat(np.asarray(self.is_new, bool), np.diff(self.starts))
