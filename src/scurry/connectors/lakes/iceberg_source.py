"""IcebergSource: the records of an Iceberg table, of one snapshot or of all to come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.column_types import ColumnType
from scurry.connectors.files.columnar import ColumnarFormat
from scurry.connectors.files.damaged import naming_damage
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.lakes.columns import chosen
from scurry.connectors.lakes.enumerator import LakeEnumerator, TableFile
from scurry.connectors.lakes.iceberg_table import IcebergLog, IcebergTable, columns_of, scan_task
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import SourceNotFoundError

__all__ = ["IcebergSource"]


@dataclass(frozen=True)
class IcebergSource(Source):
    """Reads the files that a table's snapshots name, without what is deleted, as Rows.

    Attributes:
        table: The table.
        row: The columns to read, a ROW.
        snapshot: The snapshot to read, or to read from; None for the newest.
        changes_only: Only what is appended after the snapshot.
        interval_ms: Milliseconds between looks for new snapshots; None reads one and ends.
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
        """Describe what to read; the catalog is asked for the columns.

        Raises:
            SourceNotFoundError: There is no such table or snapshot.
            SourceConnectionError: The catalog cannot be asked.
            ArgumentError: The table lacks a column.
            UnsupportedError: The type of a column.
            ExtraMissingError: The package pyiceberg is missing.
        """
        loaded = table.load()
        if snapshot is not None and loaded.snapshot_by_id(snapshot) is None:
            raise SourceNotFoundError(f"the Iceberg table {table.identifier} has no snapshot {snapshot}")
        row = columns_of(loaded)
        if columns is not None:
            row = chosen(row, columns, f"Iceberg table {table.identifier}")
        return cls(table, row, snapshot, changes_only, interval_ms)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether it reads one snapshot."""
        return self.interval_ms is None

    @property
    def produced_type(self) -> TypeInformation | None:
        """A row with the columns' names and types."""
        return self.row.type_info

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator of the table's files."""

        def log() -> IcebergLog:
            return IcebergLog(self.table, self.snapshot, self.changes_only)

        return LakeEnumerator(log, self.channels(parallelism), limits.max_bytes, self.interval_ms)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of files."""
        return sliced(_FileReader(self.row, utc_timestamp=True).rows_of(work), sizer)


class _FileReader(ColumnarFormat):
    """Reads files with pyiceberg, which knows of deleted rows, renamed columns and partitions."""

    def rows_of(self, files: Iterable[TableFile]) -> Iterator[Sequence[Any]]:
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

    def _rows_in(self, batches: Iterable[Any], path: str) -> Iterator[Sequence[Any]]:
        for batch in batches:
            found = self.columns_in(batch.schema.names)
            for first in range(0, batch.num_rows, self.batch_size):
                yield self.rows(batch.slice(first, self.batch_size), found, path)

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Sequence[Any]]:
        raise NotImplementedError("files of a table are read by rows_of")
