"""IcebergSource: reads an Iceberg table, either one snapshot or all future ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from scurry.connectors.files.formats.columnar import BatchRows, DeclaredColumns
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.lakes.columns import chosen
from scurry.connectors.lakes.enumerator import LakeEnumerator, TableFile
from scurry.connectors.lakes.iceberg_table import IcebergLog, IcebergTable, columns_of, scan_task
from scurry.connectors.lakes.source import LakeSource
from scurry.connectors.source import BatchLimits, Block, Chunk, ChunkSizer, Enumerator, sliced
from scurry.errors import SourceNotFoundError
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows that are a block.
_ROWS = 2048


@dataclass(frozen=True)
class IcebergSource(LakeSource):
    """Read the files of a table's snapshots, without deleted rows, as Rows.

    Attributes:
        table: The table.
        row: The type of the rows to read.
        snapshot: The snapshot to read or to start from; None for the newest.
        changes_only: Whether to read only what is appended after the snapshot.
        interval_ms: Milliseconds between checks for new snapshots; None to read one snapshot only.
    """

    table: IcebergTable
    row: RowType
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
        rows = BatchRows(self.row)

        def blocks(file: TableFile) -> Iterator[Block]:
            for batch in file_batches(file, self.row):
                for first in range(0, batch.num_rows, _ROWS):
                    yield rows(batch.slice(first, _ROWS), file.path)

        return sliced(chain.from_iterable(naming_damage(blocks(file), file.path, 0, file.size) for file in work), sizer)


def file_batches(file: TableFile, row: RowType) -> Iterator[pa.RecordBatch]:
    """Yield columns of a file, read with pyiceberg, which handles deleted rows, renamed columns and partitions."""
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan

    location, task = scan_task(file)
    table = _loaded(location)
    # of rows that only count, one column is read
    schema, columns = table.schema().select(*(row.names or table.schema().column_names[:1])), DeclaredColumns(row)
    for batch in ArrowScan(table.metadata, table.io, schema, AlwaysTrue()).to_record_batches([task]):
        yield columns.by_name(batch, file.path)


@lru_cache(1)
def _loaded(location: str) -> Any:
    """Return the table of a metadata file, which is the same for all files of a snapshot."""
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(location)
