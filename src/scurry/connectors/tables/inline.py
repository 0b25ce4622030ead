"""Tables that objects of the program read and write: streams, and data in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scurry.catalog.entries import InlineTable
from scurry.catalog.table_options import TableOption
from scurry.connectors.sink import Sink
from scurry.connectors.source import Assignment, BatchLimits, Enumerator
from scurry.connectors.tables.contract import (
    Changes,
    SinkChanges,
    SinkTarget,
    TableContext,
    TableFactory,
    TableSource,
)
from scurry.connectors.tables.split_enumerator import SplitEnumerator

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrowSource", "InlineFactory"]


class InlineFactory(TableFactory):
    """The factory of one such table."""

    def __init__(self, table: InlineTable) -> None:
        """Take the table."""
        self._table = table

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return none."""
        return ()

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Return which changes the sink takes."""
        return SinkChanges(self._table.sink_changes)

    def create_source(self, context: TableContext) -> TableSource:
        """Return the source."""
        source: TableSource = self._table.source
        return source

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return the sink."""
        sink: Sink = self._table.sink
        return sink


class ArrowSource(TableSource):
    """Read columns of Arrow in memory, whose types are those of the table.

    Args:
        pieces: The batches of each piece that is read separately.
    """

    def __init__(self, pieces: Sequence[Sequence[pa.RecordBatch]]) -> None:
        self._pieces = [[Changes(batch) for batch in batches if batch.num_rows] for batches in pieces]

    def splits(self) -> list[Any]:
        """Return the pieces."""
        return [piece for piece in self._pieces if piece]

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return what assigns the pieces to the readers; its position has none of the rows."""
        return _Pieces(self.splits(), channels)

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a piece."""
        for changes in split:
            yield changes.batch.select(list(columns))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows: tasks get theirs in the assignment."""
        return {"_pieces": []}


class _Pieces(SplitEnumerator):
    def __init__(self, pieces: Sequence[Any], channels: int) -> None:
        super().__init__(range(len(pieces)), channels)
        self._pieces = pieces

    def next_batch(self) -> list[Assignment]:
        return [
            replace(each, work=None if each.work is None else [self._pieces[place] for place in each.work])
            for each in super().next_batch()
        ]
