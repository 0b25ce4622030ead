"""Avro's records from and to Parquet files, as parquet-avro lays them out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from scurry.common.bulk_writer import BulkWriter, BulkWriterFactory
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.avro.arrow_reading import batch_reader
from scurry.connectors.avro.arrow_records import AvroTables
from scurry.connectors.avro.generic import GenericRecordAvroTypeInfo
from scurry.connectors.avro.schema import AvroSchema
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.format import StreamFormat
from scurry.connectors.files.parquet import ParquetWriter, read_parquet

__all__ = ["AvroParquetFormat", "AvroParquetWriterFactory"]

_BATCH_SIZE = 2048


@dataclass(frozen=True)
class AvroParquetFormat(StreamFormat):
    """Dicts of a record schema from Parquet files, whoever wrote them.

    Fields are matched with columns by Avro's rules of schema resolution. A byte range owns the row groups that begin in
    it. A file that is no Parquet file is one malformed record.

    Attributes:
        schema: What to read.
    """

    schema: AvroSchema

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of the dicts."""
        return GenericRecordAvroTypeInfo(self.schema)

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Sequence[Any]]:
        """Yield blocks of dicts."""
        return read_parquet(fs, path, start, end, _BATCH_SIZE, lambda file: batch_reader(self.schema, file, path))


@dataclass(frozen=True)
class AvroParquetWriterFactory(BulkWriterFactory):
    """Makes writers of Parquet files that hold the Avro schema of their records.

    Attributes:
        schema: Of the records.
        compression: A compression pyarrow knows.
    """

    schema: AvroSchema
    compression: str = "none"

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
        return ParquetWriter(AvroTables(self.schema), stream, self.compression)
