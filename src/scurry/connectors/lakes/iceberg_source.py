"""IcebergScan: the files of an Iceberg table, in one snapshot or all future ones; IcebergSource: its rows as Rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from scurry._dataclasses import dataclass
from scurry.connectors.files.formats.columnar import DeclaredColumns
from scurry.connectors.lakes.columns import chosen
from scurry.connectors.lakes.enumerator import OpenedTable, TableFile
from scurry.connectors.lakes.iceberg_table import IcebergLog, IcebergTable, columns_of, scan_task
from scurry.connectors.lakes.source import LakeScan, LakeSource
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class IcebergScan(LakeScan):
    """The files of a table's snapshots, without deleted rows.

    Attributes:
        table: The table.
        snapshot: The snapshot to read or to start from; None for the newest.
        changes_only: Whether to read only what is appended after the snapshot.
        interval_ms: Milliseconds between checks for new snapshots; None to read one snapshot only.
        opened: The table as it was checked.
    """

    table: IcebergTable
    snapshot: int | None = None
    changes_only: bool = False
    interval_ms: int | None = None
    opened: OpenedTable = field(default_factory=OpenedTable, compare=False, repr=False)

    def log(self) -> IcebergLog:
        """Open the list of the table's snapshots."""
        return IcebergLog(self.table, self.snapshot, self.changes_only, self.opened)

    def batches(self, file: TableFile, row: RowType, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield columns of a file, read with pyiceberg, which handles deleted rows, renamed columns and partitions."""
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan

        location, task = scan_task(file)
        table = _loaded(location, self.table.catalog_name, tuple(sorted(self.table.properties.items())))
        # of rows that only count, one column is read
        schema, columns = table.schema().select(*(row.names or table.schema().column_names[:1])), DeclaredColumns(row)
        for batch in ArrowScan(table.metadata, table.io, schema, AlwaysTrue()).to_record_batches([task]):
            yield columns.by_name(batch, file.path)


@dataclass(frozen=True)
class IcebergSource(LakeSource):
    """Read the files of a table's snapshots, without deleted rows, as Rows."""

    @classmethod
    def of(
        cls,
        table: IcebergTable,
        columns: tuple[str, ...] | None,
        snapshot: int | None,
        changes_only: bool,
        interval_ms: int | None,
    ) -> Self:
        """Describe a source; the columns are read from the catalog.

        Raises:
            SourceNotFoundError: There is no such table or snapshot.
            SourceConnectionError: The catalog does not answer.
            ArgumentError: The table lacks a column.
            UnsupportedError: The type of a column is not supported.
            ExtraMissingError: The package pyiceberg is missing.
        """
        row = columns_of(table.at(snapshot))
        if columns is not None:
            row = chosen(row, columns, f"Iceberg table {table.identifier}")
        return cls(IcebergScan(table, snapshot, changes_only, interval_ms), row)


@lru_cache(1)
def _loaded(location: str, catalog: str, properties: tuple[tuple[str, str], ...]) -> Any:
    """Return the table of a metadata file, which is the same for all files of a snapshot.

    Tasks do not ask the catalog, but its properties say how its files are reached.
    """
    from pyiceberg.table import StaticTable
    from pyiceberg.utils.config import Config

    configured = {key: str(value) for key, value in (Config().get_catalog_config(catalog) or {}).items()}
    return StaticTable.from_metadata(location, {**configured, **dict(properties)})
