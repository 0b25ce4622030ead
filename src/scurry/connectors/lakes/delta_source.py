"""DeltaSource: reads a Delta table, either one version or all future ones."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from scurry.connectors.files.filesystem import FileSystem, file_system
from scurry.connectors.files.formats.column_types import ColumnType
from scurry.connectors.files.formats.columnar import ColumnarFormat
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.lakes.columns import chosen
from scurry.connectors.lakes.delta_table import DeltaRange, DeltaTableLog, columns_of, open_table
from scurry.connectors.lakes.enumerator import LakeEnumerator
from scurry.connectors.lakes.source import LakeSource
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, sliced


@dataclass(frozen=True)
class DeltaSource(LakeSource):
    """Read the files in the log of a table, as Rows.

    Attributes:
        path: The table's path or address.
        row: The type of the rows to read, a ROW.
        what: The versions to read.
        interval_ms: Milliseconds between checks for new versions; None to read one version only.
    """

    path: str
    row: ColumnType
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
        fs, base = file_system(self.path)
        reader = _FileReader(self.row, utc_timestamp=True)
        blocks = (naming_damage(reader.rows_of(fs, base, file.path, file.details), file.path) for file in work)
        return sliced(chain.from_iterable(blocks), sizer)


class _FileReader(ColumnarFormat):
    """Read Parquet files, and add the values of partition columns, which are not in the files."""

    def rows_of(
        self, fs: FileSystem, base: str, path: str, partition_values: dict[str, str | None]
    ) -> Iterator[Sequence[Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        inside = file_system(path)[1] if "://" in path else posixpath.join(base, path)
        with fs.open_input(inside) as file:
            parquet = pq.ParquetFile(file, pre_buffer=False)
            names = parquet.schema_arrow.names
            wanted = [name for name in self.row.names if name in names and name not in partition_values]
            found: list[str | None] = [
                name if name in wanted or name in partition_values else None for name in self.row.names
            ]
            for batch in parquet.iter_batches(self.batch_size, columns=wanted, use_threads=False):
                for name, part in zip(self.row.names, self.row.parts, strict=True):
                    if name in partition_values:
                        values = pa.array([partition_values[name]] * batch.num_rows, pa.string())
                        batch = batch.append_column(name, values.cast(part.arrow))
                yield self.rows(batch, found, path)

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Sequence[Any]]:
        raise NotImplementedError("files of a table are read by rows_of")
