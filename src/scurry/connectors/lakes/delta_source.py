"""DeltaSource: reads a Delta table, either one version or all future ones."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from scurry.connectors.files.filesystem import file_system
from scurry.connectors.files.formats.columnar import BatchRows, DeclaredColumns
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.lakes.columns import chosen
from scurry.connectors.lakes.delta_table import DeltaRange, DeltaTableLog, columns_of, open_table
from scurry.connectors.lakes.enumerator import LakeEnumerator, TableFile
from scurry.connectors.lakes.source import LakeSource
from scurry.connectors.source import BatchLimits, Block, Chunk, ChunkSizer, Enumerator, sliced
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows decoded at once.
_ROWS = 2048


@dataclass(frozen=True)
class DeltaSource(LakeSource):
    """Read the files in the log of a table, as Rows.

    Attributes:
        path: The table's path or address.
        row: The type of the rows to read.
        what: The versions to read.
        interval_ms: Milliseconds between checks for new versions; None to read one version only.
    """

    path: str
    row: RowType
    what: DeltaRange
    interval_ms: int | None = None

    @classmethod
    def of(cls, path: str, columns: tuple[str, ...] | None, what: DeltaRange, interval_ms: int | None) -> DeltaSource:
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
        return cls(path, row, what, interval_ms)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator of the table's files."""
        channels = self.channels(parallelism)
        return LakeEnumerator(lambda: DeltaTableLog(self.path, self.what), channels, limits.max_bytes, self.interval_ms)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of files."""
        rows = BatchRows(self.row)

        def blocks(file: TableFile) -> Iterator[Block]:
            for batch in file_batches(self.path, file, self.row, _ROWS):
                yield rows(batch, file.path)

        return sliced(chain.from_iterable(naming_damage(blocks(file), file.path, 0, file.size) for file in work), sizer)


def file_batches(table: str, file: TableFile, row: RowType, batch_size: int) -> Iterator[pa.RecordBatch]:
    """Yield columns of a Parquet file of a table, with the values of partition columns, which are not in the file.

    Args:
        table: The table's path or address.
        file: The file.
        row: The columns to read.
        batch_size: Rows decoded at once.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    (fs, base), columns = file_system(table), DeclaredColumns(row)
    path = file_system(file.path)[1] if "://" in file.path else posixpath.join(base, file.path)
    with fs.open_input(path) as stream:
        parquet = pq.ParquetFile(stream, pre_buffer=False)
        there = parquet.schema_arrow.names
        wanted = [name for name in row.names if name in there and name not in file.details]
        for batch in parquet.iter_batches(batch_size, columns=wanted, use_threads=False):
            for name, text in file.details.items():
                batch = batch.append_column(name, pa.repeat(pa.scalar(text, pa.string()), batch.num_rows))
            yield columns.by_name(batch, file.path)
