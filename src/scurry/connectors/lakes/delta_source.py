"""DeltaScan: the files of a Delta table, in one version or all future ones; DeltaSource: its rows as records."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Self

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.files.formats.columnar import DeclaredColumns
from scurry.connectors.lakes.columns import chosen
from scurry.connectors.lakes.delta_table import DeltaRange, DeltaTableLog, columns_of, open_table
from scurry.connectors.lakes.enumerator import OpenedTable, TableFile
from scurry.connectors.lakes.source import LakeScan, LakeSource
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class DeltaScan(LakeScan):
    """The files in the log of a table.

    Attributes:
        path: The table's path or address.
        what: The versions to read.
        interval_ms: Milliseconds between checks for new versions; None to read one version only.
        opened: The table as it was checked.
    """

    path: str
    what: DeltaRange
    interval_ms: int | None = None
    opened: OpenedTable = field(default_factory=OpenedTable, compare=False, repr=False)

    def log(self) -> DeltaTableLog:
        return DeltaTableLog(self.path, self.what, self.opened)

    def batches(self, file: TableFile, row: RowType, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield columns of a Parquet file, with the values of partition columns, which are not in the file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        (fs, base), columns = file_system(self.path), DeclaredColumns(row)
        path = file_system(file.path)[1] if "://" in file.path else posixpath.join(base, file.path)
        with fs.open_input(path) as stream:
            parquet = pq.ParquetFile(stream, pre_buffer=False)
            there = parquet.schema_arrow.names
            wanted = [name for name in row.names if name in there and name not in file.details]
            for batch in parquet.iter_batches(rows, columns=wanted, use_threads=False):
                for name, text in file.details.items():
                    batch = batch.append_column(name, pa.repeat(pa.scalar(text, pa.string()), batch.num_rows))
                yield columns.by_name(batch, file.path)


@dataclass(frozen=True)
class DeltaSource(LakeSource):
    """Read the files in the log of a table, as Rows."""

    @classmethod
    def of(cls, path: str, columns: tuple[str, ...] | None, what: DeltaRange, interval_ms: int | None) -> Self:
        """Describe a source; the columns are read from the table.

        Args:
            path: The table's path or address.
            columns: Names of the columns to read; None for all.
            what: The versions to read.
            interval_ms: Milliseconds between checks for new versions; None to read one version only.

        Raises:
            SourceNotFoundError: There is no such table, or no such version.
            ArgumentError: The table lacks a column.
            UnsupportedError: A feature of the table or the type of a column is not supported.
            ExtraMissingError: The package deltalake is missing.
        """
        row = columns_of(open_table(path, None if what.changes_only else what.version))
        if columns is not None:
            row = chosen(row, columns, f"Delta table {path}")
        return cls(DeltaScan(path, what, interval_ms), row)
