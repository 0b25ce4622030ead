"""TableScan: the source of a STREAMING job that reads a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.sql.connectors.contract import Changes, TableSource


class TableScan(Source):
    """Read columns of a table. Each record is a `Changes`: rows that a reader returns together."""

    columnar = True

    def __init__(self, table: TableSource, columns: tuple[str, ...]) -> None:
        self._table = table
        self._columns = columns
        self.bounded = table.bounded

    def channels(self, parallelism: int) -> int:
        """Return the number of readers of the table."""
        return self._table.channels(parallelism)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return self._table.create_enumerator(self.channels(parallelism), limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of the assigned pieces."""
        for split in self._table.pieces(work):
            for changes in self._table.read(split, self._columns):
                if changes.batch.num_rows:
                    yield [_with_array(changes)], None


def _with_array(changes: Changes) -> Changes:
    """Return changes whose kinds are an array, as operators have them."""
    if changes.kinds is None:
        return changes
    import numpy as np

    kinds = np.asarray(changes.kinds, dtype=np.int8)
    return Changes(changes.batch, kinds if kinds.any() else None)
