"""IcebergSource: reads an Iceberg table, either one snapshot or all future ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.column_types import ColumnType
from scurry.connectors.files.formats.columnar import ColumnarFormat
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.lakes.columns import chosen
from scurry.connectors.lakes.enumerator import LakeEnumerator, TableFile
from scurry.connectors.lakes.iceberg_table import IcebergLog, IcebergTable, columns_of, scan_task
from scurry.connectors.lakes.source import LakeSource
from scurry.connectors.source import BatchLimits, Block, Chunk, ChunkSizer, Enumerator, sliced
from scurry.errors import SourceNotFoundError


@dataclass(frozen=True)
class IcebergSource(LakeSource):
    """Read the files of a table's snapshots, without deleted rows, as Rows.

    Attributes:
        table: The table.
        row: The type of the rows to read, a ROW.
        snapshot: The snapshot to read or to start from; None for the newest.
        changes_only: Whether to read only what is appended after the snapshot.
        interval_ms: Milliseconds between checks for new snapshots; None to read one snapshot only.
    """

    table: IcebergTable
    row: ColumnType
    snapshot: int | None = None
    changes_only: bool = False
    interval_ms: int | None = None

    @classmethod
    def of(
        cls,
        table: IcebergTable,
        columns: tuple[str, ...] | None,
        snapshot: int | None,
        changes_only: bool,
        interval_ms: int | None,
    ) -> IcebergSource:
        """Describe a source; the columns are read from the catalog.

        Raises:
            SourceNotFoundError: There is no such table or snapshot.
            SourceConnectionError: The catalog does not answer.
            ArgumentError: The table lacks a column.
            UnsupportedError: The type of a column is not supported.
            ExtraMissingError: The package pyiceberg is missing.
        """
        loaded = table.load()
        if snapshot is not None and loaded.snapshot_by_id(snapshot) is None:
            raise SourceNotFoundError(f"the Iceberg table {table.identifier} has no snapshot {snapshot}")
        row = columns_of(loaded)
        if columns is not None:
            row = chosen(row, columns, f"Iceberg table {table.identifier}")
        return cls(table, row, snapshot, changes_only, interval_ms)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator of the table's files."""

        def log() -> IcebergLog:
            return IcebergLog(self.table, self.snapshot, self.changes_only)

        return LakeEnumerator(log, self.channels(parallelism), limits.max_bytes, self.interval_ms)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of files."""
        return sliced(_FileReader(self.row, utc_timestamp=True).rows_of(work), sizer)


class _FileReader(ColumnarFormat):
    """Read files with pyiceberg, which handles deleted rows, renamed columns and partitions."""

    def rows_of(self, files: Iterable[TableFile]) -> Iterator[Block]:
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan
        from pyiceberg.table import StaticTable

        location, table = "", None
        for file in files:
            where, task = scan_task(file)
            if where != location:
                location, table = where, StaticTable.from_metadata(where)
            assert table is not None
            schema = table.schema().select(*self.row.names)
            batches = ArrowScan(table.metadata, table.io, schema, AlwaysTrue()).to_record_batches([task])
            yield from naming_damage(self._rows_in(batches, file.path), file.path)

    def _rows_in(self, batches: Iterable[Any], path: str) -> Iterator[Block]:
        for batch in batches:
            found = self.columns_in(batch.schema.names)
            for first in range(0, batch.num_rows, self.batch_size):
                yield self.rows(batch.slice(first, self.batch_size), found, path)

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        raise NotImplementedError("files of a table are read by rows_of")
