"""Tables that objects of the program read and write: streams, and data in memory."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from scurry.connectors.sink import Sink
from scurry.connectors.source import Assignment, BatchLimits, Enumerator
from scurry.connectors.split_queues import SplitQueues
from scurry.sql.catalog.entries import InlineTable
from scurry.sql.catalog.table_options import TableOption
from scurry.sql.connectors.contract import Changes, SinkChanges, SinkTarget, TableContext, TableFactory, TableSource

if TYPE_CHECKING:
    import pyarrow as pa


class InlineFactory(TableFactory):
    """The factory of one such table."""

    reads_metadata = True
    writes_metadata = True

    def __init__(self, table: InlineTable) -> None:
        self._table = table

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return none."""
        return ()

    def sink_changes(self, context: TableContext) -> SinkChanges:
        return SinkChanges(self._table.sink_changes)

    def create_source(self, context: TableContext) -> TableSource:
        source: TableSource = self._table.source
        return source

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        sink: Sink = self._table.sink
        return sink


class ArrowSource(TableSource):
    """Read columns of Arrow in memory, whose types are those of the table.

    Args:
        splits: The parts that are read independently, each in pieces, which are read one after the other: the batches
            of each piece.
    """

    def __init__(self, splits: Sequence[Sequence[Sequence[pa.RecordBatch]]]) -> None:
        self._splits = [[list(map(Changes, piece)) for piece in pieces] for pieces in splits]

    def splits(self) -> list[Any]:
        """Return the pieces of all parts."""
        return [piece for pieces in self._splits for piece in pieces]

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of the pieces to the readers; its position has none of the rows."""
        return _Pieces(self._splits, channels)

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the batches of a piece."""
        for changes in split:
            yield Changes(changes.batch.select(list(columns)))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows: tasks get theirs in the assignment."""
        return {"_splits": []}


class _Pieces(Enumerator):
    """Assign the pieces of a part to one channel, in order."""

    def __init__(self, splits: Sequence[Sequence[Any]], channels: int) -> None:
        self._pieces = [piece for pieces in splits for piece in pieces]
        #: of each part the places of its next piece and behind its last
        self._queues: SplitQueues[list[int]] = SplitQueues(channels, lambda part: part[1] - part[0])
        ends = [*accumulate(map(len, splits), initial=0)]
        self._queues.add([start, end] for start, end in pairwise(ends) if start < end)

    def next_batch(self) -> list[Assignment]:
        assignments = []
        for channel in self._queues.open:
            work = None
            if self._queues.has(channel):
                part = self._queues.first(channel)
                work = [self._pieces[part[0]]]
                part[0] += 1
                self._queues.shrunk(channel, 1)
                if part[0] == part[1]:
                    self._queues.pop(channel)
            final = self._queues.final[channel] = not self._queues.has(channel)
            assignments.append(Assignment(channel, work, final))
        return assignments

    def position(self) -> dict[str, Any]:
        return self._queues.position(list)

    def restore(self, position: dict[str, Any]) -> None:
        self._queues.restore(position, _part)


def _part(saved: list[int] | str) -> list[int]:
    if isinstance(saved, str):  # earlier versions have the place of each piece, pickled
        place = pickle.loads(base64.b64decode(saved))
        return [place, place + 1]
    return saved


class FrameSource(TableSource):
    """Read a DataFrame of Spark: in BATCH on Spark as a part of the query, otherwise collected first.

    Attributes:
        frame: The DataFrame; opaque, because this module does not import Spark.
    """

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def splits(self) -> list[Any]:
        """Collect the rows; return them in batches."""
        import pyarrow as pa

        table = self.frame.toArrow()
        plain = [
            column.cast(pa.timestamp(kind.unit)) if pa.types.is_timestamp(kind) else column
            for column, kind in zip(table.columns, table.schema.types, strict=True)
        ]
        table = pa.Table.from_arrays(plain, names=table.column_names)
        return [[Changes(batch)] for batch in table.combine_chunks().to_batches(max_chunksize=1 << 16)]

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Collect the rows; return the enumerator that assigns them to the readers."""
        return _Pieces([self.splits()], channels)

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the batches of a piece."""
        for changes in split:
            yield Changes(changes.batch.select(list(columns)))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the DataFrame: tasks get its rows."""
        return {"frame": None}
