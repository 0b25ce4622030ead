"""Avro's records in Parquet files, with the layout of parquet-avro."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.avro.arrow_reading import batch_reader
from scurry.connectors.avro.arrow_records import AvroTables
from scurry.connectors.avro.generic import GenericRecordAvroTypeInfo
from scurry.connectors.avro.schema import AvroSchema
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.columnar import RecordsWriter
from scurry.connectors.files.formats.parquet import ParquetWriterFactory, read_parquet
from scurry.connectors.files.formats.stream import StreamFormat
from scurry.connectors.source import Block

_BATCH_SIZE = 2048


@dataclass(frozen=True)
class AvroParquetFormat(StreamFormat):
    """Read Parquet files of any writer as dicts of a record schema.

    Fields are matched with columns by Avro's rules of schema resolution. A byte range owns the row groups that begin in
    it. A file that is not a Parquet file is one malformed record.

    Attributes:
        schema: The schema to read.
    """

    schema: AvroSchema

    @property
    def produced_type(self) -> TypeInformation | None:
        return GenericRecordAvroTypeInfo(self.schema)

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        return read_parquet(fs, path, start, end, _BATCH_SIZE, lambda file: batch_reader(self.schema, file, path))


@dataclass(frozen=True)
class AvroParquetWriterFactory(BulkWriterFactory):
    """Create writers of Parquet files that contain the Avro schema of their records.

    Attributes:
        schema: The schema of the records.
        compression: A compression that pyarrow supports.
    """

    schema: AvroSchema
    compression: str = "none"

    def create(self, stream: BinaryIO) -> BulkWriter:
        tables = AvroTables(self.schema)
        return RecordsWriter(tables, ParquetWriterFactory(tables.schema, self.compression).create(stream))
