"""Parquet files as sources and sinks of rows and of Avro records."""

from __future__ import annotations

from scurry.common.configuration import Configuration
from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.avro.arrow_types import arrow_schema
from scurry.connectors.avro.parquet_files import AvroParquetFormat, AvroParquetWriterFactory
from scurry.connectors.avro.schema import AvroSchema
from scurry.connectors.files.formats.columnar import RowsWriterFactory, file_schema
from scurry.connectors.files.formats.parquet import ParquetFormat, ParquetWriterFactory
from scurry.connectors.files.formats.stream import StreamFormat
from scurry.datastream.formats._columns import check_row
from scurry.datastream.formats.avro import checked_schema
from scurry.errors import ArgumentError, UnsupportedError
from scurry.sql.types.nested_types import RowType

__all__ = ["AvroParquetReaders", "AvroParquetWriters", "ParquetBulkWriters", "ParquetColumnarRowInputFormat"]

_COMPRESSION = "parquet.compression"


class ParquetColumnarRowInputFormat(ParquetFormat):
    """Read rows of chosen columns from Parquet files; a column that a file does not have is null."""

    def __init__(
        self,
        row_type: RowType,
        hadoop_config: Configuration | None = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
        *,
        required: tuple[str, ...] = (),
    ) -> None:
        """Describe a format of Parquet files.

        Args:
            row_type: The columns.
            hadoop_config: Must be empty: there is no Hadoop here.
            batch_size: Rows decoded at once.
            is_utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.
            is_case_sensitive: Whether column names must match exactly.
            required: Columns that a file may not lack. scurry's own.

        Raises:
            ArgumentError: A batch size below 1.
            UnsupportedError: A type that Parquet files do not support, or Hadoop settings.
        """
        if batch_size < 1:
            raise ArgumentError(f"batch_size must be at least 1, got {batch_size}")
        for key in hadoop_config.key_set() if hadoop_config is not None else ():
            raise UnsupportedError(f"Hadoop setting {key!r} has no effect: Parquet is read without Hadoop; remove it")
        super().__init__(check_row(row_type), batch_size, is_utc_timestamp, is_case_sensitive, required)


class ParquetBulkWriters:
    """Create writers of Parquet files for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_row_type(
        row_type: RowType, hadoop_config: Configuration | None = None, utc_timestamp: bool = False
    ) -> BulkWriterFactory:
        """Return the factory of writers of rows.

        Args:
            row_type: The columns.
            hadoop_config: May set `parquet.compression` (SNAPPY by default), and nothing else.
            utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.

        Raises:
            UnsupportedError: A type that Parquet files do not support, or other Hadoop settings.
        """
        compression = "snappy"
        if hadoop_config is not None:
            for key in hadoop_config.key_set() - {_COMPRESSION}:
                raise UnsupportedError(
                    f"Hadoop setting {key!r} has no effect: Parquet is written without Hadoop; only {_COMPRESSION} "
                    "can be set"
                )
            compression = hadoop_config.get_string(_COMPRESSION, compression)
        schema = file_schema(check_row(row_type))
        files = ParquetWriterFactory(schema, _compression(_COMPRESSION, compression), int96=True)
        return RowsWriterFactory(row_type, files, utc_timestamp)


class AvroParquetReaders:
    """Create formats of Avro records in Parquet files for `FileSource.for_record_stream_format`."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Return the format of dicts, as `GenericRecordAvroTypeInfo` has them.

        Args:
            schema: The schema to read, a record. Columns are found by its fields' names and aliases; a field whose
                column a file does not have gets its default value, other columns are skipped.

        Raises:
            ArgumentTypeError: It is not an AvroSchema.
            UnsupportedError: It is not a record, or has a type that Parquet files do not support.
        """
        arrow_schema(checked_schema(schema))
        return AvroParquetFormat(schema)


class AvroParquetWriters:
    """Create writers of Parquet files with Avro records for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_generic_record(schema: AvroSchema, compression: str = "UNCOMPRESSED") -> BulkWriterFactory:
        """Return the factory of writers of dicts or Rows. The files keep the schema, as those of parquet-avro do.

        Args:
            schema: The schema of the records, a record.
            compression: UNCOMPRESSED (Flink's only one), SNAPPY, GZIP, ZSTD or LZ4_RAW.

        Raises:
            ArgumentTypeError: It is not an AvroSchema.
            UnsupportedError: It is not a record, or has a type that Parquet files do not support; or
                another compression.
        """
        arrow_schema(checked_schema(schema))
        return AvroParquetWriterFactory(schema, _compression("compression", compression))


def _compression(setting: str, name: str) -> str:
    """Return pyarrow's name of a compression of Parquet."""
    known = {"uncompressed": "none", "lz4_raw": "lz4"}.get(name.lower(), name.lower())
    if known not in ("snappy", "gzip", "zstd", "lz4", "brotli", "none"):
        raise UnsupportedError(f"{setting}={name}; use SNAPPY, GZIP, ZSTD, LZ4_RAW or UNCOMPRESSED")
    return known
