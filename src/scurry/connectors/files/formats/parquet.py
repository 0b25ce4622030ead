"""ParquetFormat and ParquetWriter: read and write rows in Parquet files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from scurry.common.bulk_writer import BulkWriter, BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.column_types import ColumnType
from scurry.connectors.files.formats.columnar import ColumnarFormat, ColumnarWriter, RowTables, Tables
from scurry.connectors.source import Block, MalformedRecords
from scurry.errors import MalformedRecordError

#: The columns to read, and the function that converts an Arrow record batch of them to a block of records.
BatchReader: TypeAlias = tuple[list[str], Callable[[Any], Sequence[Any]]]


def read_parquet(
    fs: FileSystem, path: str, start: int, end: int, batch_size: int, reader: Callable[[Any], BatchReader]
) -> Iterator[Block]:
    """Yield blocks of the records in the row groups that begin in a byte range of a Parquet file.

    A file that is not a Parquet file is one malformed record.

    Args:
        fs: The file system of the path.
        path: The file.
        start: First byte of the range.
        end: Byte after the range.
        batch_size: Number of records decoded at once.
        reader: Returns what to read, given the file's `pyarrow.Schema`.

    Raises:
        MalformedRecordError: The file is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with fs.open_input(path) as file:
        try:
            # pre-buffering starts Arrow's thread pool, which aborts a process that ends right afterwards
            parquet = pq.ParquetFile(file, pre_buffer=False, coerce_int96_timestamp_unit="us")
        except pa.ArrowInvalid as error:
            if start == 0:  # once per file
                reason = f"this is no Parquet file ({error})"
                yield MalformedRecords([MalformedRecordError(path, None, "", reason)])
            return
        groups = [i for i in range(parquet.num_row_groups) if start <= _offset(parquet.metadata.row_group(i)) < end]
        columns, records = reader(parquet.schema_arrow)
        try:
            for batch in parquet.iter_batches(batch_size, row_groups=groups, columns=columns, use_threads=False):
                yield records(batch)
        except pa.ArrowInvalid as error:
            raise MalformedRecordError(path, None, "", f"the file holds what is no such value ({error})") from None


def _offset(group: Any) -> int:
    """Return the position of a row group in its file."""
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


@dataclass(frozen=True)
class ParquetFormat(ColumnarFormat):
    """Read rows of the chosen columns, like Flink's ParquetColumnarRowInputFormat.

    A byte range owns the row groups that begin in it. A file that is not a Parquet file is one malformed record.
    """

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        """Yield blocks of rows."""

        def reader(schema: Any) -> BatchReader:
            found = self.columns_in(schema.names, path)
            return [name for name in found if name is not None], lambda batch: self.rows(batch, found, path)

        return read_parquet(fs, path, start, end, self.batch_size, reader)


@dataclass(frozen=True)
class ParquetWriterFactory(BulkWriterFactory):
    """Create writers of Parquet files.

    Attributes:
        row: The type of the rows, a ROW.
        utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.
        compression: A compression that pyarrow supports.
    """

    row: ColumnType
    utc_timestamp: bool = False
    compression: str = "snappy"

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
        return ParquetWriter(RowTables(self.row, self.utc_timestamp), stream, self.compression)


class ParquetWriter(ColumnarWriter):
    """Write records to a Parquet file.

    Args:
        tables: Converts the records to tables.
        stream: The open file.
        compression: A compression that pyarrow supports.
    """

    def __init__(self, tables: Tables, stream: BinaryIO, compression: str) -> None:
        """Start without records."""
        super().__init__(tables)
        self._schema = tables.schema
        self._stream = stream
        self._compression = compression

    @functools.cached_property
    def _writer(self) -> Any:
        """Pyarrow's writer, created late: if the task failed first, it would write a footer to the closed file."""
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self._stream, self._schema, compression=self._compression)

    def write_group(self, table: Any) -> None:
        """Write an Arrow table as one row group."""
        self._writer.write_table(table, row_group_size=table.num_rows)

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()
