"""ParquetFormat and ParquetWriter: rows from and to Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from scurry.connectors.files.bulk import BulkWriter, BulkWriterFactory
from scurry.connectors.files.column_types import ColumnType
from scurry.connectors.files.columnar import ColumnarFormat, ColumnarWriter
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.source import MalformedRecords
from scurry.errors import MalformedRecordError

__all__ = ["ParquetFormat", "ParquetWriterFactory"]


@dataclass(frozen=True)
class ParquetFormat(ColumnarFormat):
    """Rows of the chosen columns, as Flink's ParquetColumnarRowInputFormat reads them.

    A byte range owns the row groups that begin in it. A file that is no Parquet file is one malformed record.
    """

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Sequence[Any]]:
        """Yield blocks of rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with fs.open_input(path) as file:
            try:
                parquet = pq.ParquetFile(file)
            except pa.ArrowInvalid as error:
                if start == 0:  # once, however many ranges the file is read in
                    reason = f"this is no Parquet file ({error})"
                    yield MalformedRecords([MalformedRecordError(path, None, "", reason)])
                return
            groups = [i for i in range(parquet.num_row_groups) if start <= _offset(parquet.metadata.row_group(i)) < end]
            found = self.columns_in(parquet.schema_arrow.names)
            wanted = [name for name in found if name is not None]
            for batch in parquet.iter_batches(self.batch_size, row_groups=groups, columns=wanted, use_threads=False):
                yield self.rows(batch, found, path)


def _offset(group: Any) -> int:
    """Where a row group begins in its file."""
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


@dataclass(frozen=True)
class ParquetWriterFactory(BulkWriterFactory):
    """Makes writers of Parquet files.

    Attributes:
        row: The columns, a ROW.
        utc_timestamp: TIMESTAMPs are in UTC; otherwise in the machine's time zone.
        compression: A compression pyarrow knows.
    """

    row: ColumnType
    utc_timestamp: bool = False
    compression: str = "snappy"

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
        return _ParquetWriter(self, stream)


class _ParquetWriter(ColumnarWriter):
    def __init__(self, factory: ParquetWriterFactory, stream: BinaryIO) -> None:
        import pyarrow.parquet as pq

        super().__init__(factory.row, factory.utc_timestamp)
        self._writer = pq.ParquetWriter(stream, self.schema, compression=factory.compression)

    def write_group(self, table: Any) -> None:
        self._writer.write_table(table, row_group_size=table.num_rows)

    def close(self) -> None:
        self._writer.close()
