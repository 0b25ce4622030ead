"""The formats `parquet` and `orc`: files that are columns already."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats import orc, parquet
from scurry.connectors.files.formats.columnar import ColumnarFormat, file_schema
from scurry.connectors.source import MalformedRecords
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean
from scurry.sql.formats.contract import FileReader, FormatColumn, FormatFactory, chosen_columns, row_of

if TYPE_CHECKING:
    import pyarrow as pa

_COMPRESSIONS = {
    "SNAPPY": "snappy",
    "GZIP": "gzip",
    "ZSTD": "zstd",
    "LZ4": "lz4",
    "BROTLI": "brotli",
    "UNCOMPRESSED": "none",
}
_ORC_COMPRESSIONS = {"NONE": "uncompressed", "ZLIB": "zlib", "SNAPPY": "snappy", "LZ4": "lz4", "ZSTD": "zstd"}
_ROWS = 65_536

PARQUET_UTC = TableOption(
    "utc-timezone", boolean, False, "Timestamps are in UTC, as in a JVM whose time zone is that.", without_effect=True
)
PARQUET_COMPRESSION = TableOption("compression", str, "SNAPPY", "How pages are compressed.")
ORC_COMPRESSION = TableOption("compress", str, "LZ4", "How stripes are compressed.")


class _ColumnarFactory(FormatFactory):
    """Make readers and writers of files of columns.

    Attributes:
        compression: The option that says how they are compressed.
        compressions: Its values, and pyarrow's names of them.
    """

    format: type[ColumnarFormat]
    compression: TableOption[str]
    compressions: dict[str, str]

    def check(self, options: Options) -> None:
        self.compression_of(options)

    def compression_of(self, options: Options) -> str:
        """Return pyarrow's name of the compression."""
        value = options.get(self.compression)
        if value.upper() not in self.compressions:
            raise ValidationError(
                f"Unsupported value '{value}' for option '{options.prefix}{self.compression.key}'. Supported values "
                f"are [{', '.join(self.compressions)}]."
            )
        return self.compressions[value.upper()]

    def file_reader(self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options) -> FileReader:
        return _Reader(self.format(row_of(chosen_columns(declared, columns)), _ROWS, utc_timestamp=True, threads=True))

    def file_writer(self, declared: Sequence[FormatColumn], options: Options) -> BulkWriterFactory:
        return self.writer(file_schema(row_of(declared)), self.compression_of(options))

    @abstractmethod
    def writer(self, schema: pa.Schema, compression: str) -> BulkWriterFactory:
        """Return a factory of writers of files with some columns."""


class ParquetFormat(_ColumnarFactory):
    """Read and write Parquet files."""

    identifier = "parquet"
    options = (PARQUET_UTC, PARQUET_COMPRESSION)
    format, compression, compressions = parquet.ParquetFormat, PARQUET_COMPRESSION, _COMPRESSIONS

    def writer(self, schema: pa.Schema, compression: str) -> BulkWriterFactory:
        return parquet.ParquetWriterFactory(schema, compression, int96=True)


class OrcFormat(_ColumnarFactory):
    """Read and write ORC files."""

    identifier = "orc"
    options = (ORC_COMPRESSION,)
    format, compression, compressions = orc.OrcFormat, ORC_COMPRESSION, _ORC_COMPRESSIONS

    def writer(self, schema: pa.Schema, compression: str) -> BulkWriterFactory:
        return orc.OrcWriterFactory(schema, compression)


@dataclass(frozen=True)
class _Reader(FileReader):
    format: ColumnarFormat

    def read(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[pa.RecordBatch]:
        for found in self.format.batches(fs, path, start, end, end):
            if isinstance(found, MalformedRecords):
                raise found.errors[0]
            yield found
