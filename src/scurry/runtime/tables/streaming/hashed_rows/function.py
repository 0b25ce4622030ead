"""What functions of operators have in common that keep their rows in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.connectors.tables.contract import Changes
from scurry.functions.keys import group_codes
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.tables.batch.batches import taken
from scurry.runtime.tables.streaming.hashed_rows.equality import equal_rows
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes
from scurry.runtime.tables.streaming.hashed_rows.pages import HashedRows
from scurry.runtime.tables.streaming.hashed_rows.tables import Table
from scurry.runtime.tables.streaming.partitioning import HashedChanges

__all__ = ["HashedRowsFunction", "KeptRows"]


class KeptRows(NamedTuple):
    """The rows that are kept of the keys of some new ones.

    Attributes:
        table: Where they are kept.
        batch: The rows, those of a key in the order in which they came.
        codes: For each of them the number of its key.
        numbers: For each of them its number in the table.
        hashes: For each of them the hash of its key.
        new_codes: For each new row the number of its key.
        first: For each key the position of its first new row.
    """

    table: Table
    batch: pa.RecordBatch
    codes: Any
    numbers: Any
    hashes: Hashes
    new_codes: Any
    first: Any


class HashedRowsFunction:
    """A function without timers; `process` makes the rows of a micro-batch when it needs them."""

    def open(self, context: Any) -> None:
        """Begin without rows in memory."""
        self._rows: HashedRows | None = None

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Do nothing: there are no timers."""

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Do nothing: there are no timers."""

    def fired(self, context: RowsContext) -> list[Changes]:
        """Return nothing."""
        return []

    def settle(self, context: RowsContext) -> None:
        """Write the rows that were added."""
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.settle()

    def _rows_of_keys(
        self, rows: HashedChanges, schema: pa.Schema, keys: Sequence[int], context: RowsContext
    ) -> KeptRows:
        """Return what is kept of the keys of new rows, in the only table of the function."""
        if self._rows is None:
            self._rows = HashedRows([Table("row", schema, keys)], context.backend)
        (table,) = self._rows.tables
        self._rows.load(rows.hashes)
        new = rows.changes.batch
        new_codes, first = group_codes([new.column(key) for key in keys], new.num_rows)
        codes, numbers = table.find(rows.hashes[first])
        batch, wanted = table.rows(numbers), taken(new, first[codes])
        pairs = [(wanted.column(key), batch.column(key)) for key in keys]
        equal = equal_rows(pairs, [True] * len(pairs), batch.num_rows)
        if not equal.all():
            codes, numbers, batch = codes[equal], numbers[equal], taken(batch, np.flatnonzero(equal))
        return KeptRows(table, batch, codes, numbers, rows.hashes[first][codes], new_codes, first)
