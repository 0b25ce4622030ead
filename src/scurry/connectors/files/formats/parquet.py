"""ParquetFormat and ParquetWriterFactory: Parquet files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.columnar import BatchWriter, ColumnarFormat
from scurry.connectors.source import MalformedRecords
from scurry.errors import MalformedRecordError

if TYPE_CHECKING:
    import pyarrow as pa

#: The columns to read, and the function that converts an Arrow record batch of them to what is read.
BatchReader: TypeAlias = tuple[Sequence[str], Callable[[Any], Any]]


def read_parquet(
    fs: FileSystem,
    path: str,
    start: int,
    end: int,
    batch_size: int,
    reader: Callable[[pa.Schema], BatchReader],
    threads: bool = False,
) -> Iterator[Any]:
    """Yield a reader's results for the batches in the row groups that begin in a byte range of a Parquet file.

    A file that is not a Parquet file is one malformed record.

    Args:
        fs: The file system of the path.
        path: The file.
        start: First byte of the range.
        end: Byte after the range.
        batch_size: Number of records decoded at once.
        reader: Returns what to read, given the file's columns.
        threads: Whether columns are decoded side by side.

    Raises:
        MalformedRecordError: The file is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with fs.open_input(path) as file:
        try:
            # pre-buffering starts Arrow's thread pool, which aborts a process that ends right afterwards
            parquet = pq.ParquetFile(file, pre_buffer=threads, coerce_int96_timestamp_unit="us")
        except pa.ArrowInvalid as error:
            if start == 0:  # once per file
                reason = f"this is no Parquet file ({error})"
                yield MalformedRecords([MalformedRecordError(path, None, "", reason)])
            return
        groups = [i for i in range(parquet.num_row_groups) if start <= _offset(parquet.metadata.row_group(i)) < end]
        columns, converted = reader(parquet.schema_arrow)
        try:
            for batch in parquet.iter_batches(batch_size, row_groups=groups, columns=columns, use_threads=threads):
                yield converted(batch)
        except pa.ArrowInvalid as error:
            raise MalformedRecordError(path, None, "", f"the file holds what is no such value ({error})") from None


def _offset(group: Any) -> int:
    """Return the position of a row group in its file."""
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


@dataclass(frozen=True)
class ParquetFormat(ColumnarFormat):
    """Read the declared columns, like Flink's ParquetColumnarRowInputFormat.

    A byte range owns the row groups that begin in it. A file that is not a Parquet file is one malformed record.
    """

    def batches(
        self, fs: FileSystem, path: str, start: int, end: int, size: int
    ) -> Iterator[pa.RecordBatch | MalformedRecords]:
        columns = self.columns

        def reader(schema: pa.Schema) -> BatchReader:
            found = columns.found_in(schema.names, path)
            wanted = [name for name in found if name is not None]
            return wanted, lambda batch: columns.of(batch, found, path)

        return read_parquet(fs, path, start, end, self.batch_size, reader, self.threads)


@dataclass(frozen=True)
class ParquetWriterFactory(BulkWriterFactory):
    """Create writers of record batches to Parquet files.

    Attributes:
        schema: The columns.
        compression: A compression that pyarrow supports.
        int96: Whether timestamps are INT96, as Flink writes them.
    """

    schema: pa.Schema
    compression: str = "snappy"
    int96: bool = False

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _ParquetWriter(self, stream)


class _ParquetWriter(BatchWriter):
    def __init__(self, factory: ParquetWriterFactory, stream: BinaryIO) -> None:
        super().__init__(factory.schema)
        self._factory = factory
        self._stream = stream

    @functools.cached_property
    def _writer(self) -> Any:
        """Pyarrow's writer, created late: if the task failed first, it would write a footer to the closed file."""
        import pyarrow.parquet as pq

        factory = self._factory
        return pq.ParquetWriter(
            self._stream,
            factory.schema,
            compression=factory.compression,
            use_deprecated_int96_timestamps=factory.int96,
            store_schema=factory.schema.metadata is not None,
        )

    def write_group(self, table: pa.Table) -> None:
        self._writer.write_table(table, row_group_size=table.num_rows)

    def close(self) -> None:
        self._writer.close()
