"""Avro files as sources and sinks; `formats.avro` exports the classes."""

from __future__ import annotations

import os

from scurry.common._api import made_by
from scurry.common.io import InputFormat
from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.avro.codecs import CODECS
from scurry.connectors.avro.files import AvroFileFormat, AvroFileWriterFactory
from scurry.connectors.avro.generic import GenericRecordAvroTypeInfo
from scurry.connectors.avro.schema import AvroSchema, row_type_of
from scurry.connectors.files.reading.source import FileSource
from scurry.errors import ArgumentTypeError, UnsupportedError


class AvroInputFormat(InputFormat):
    """Read Avro files as dicts, for `env.create_input(...)`."""

    def __init__(self, path: str, schema: AvroSchema) -> None:
        """Describe a format of Avro files.

        Args:
            path: A file, directory or pattern, as for a `FileSource`.
            schema: What to read; the files may have been written with another, compatible one.
        """
        self._path = os.fspath(path)
        self._format = AvroFileFormat(checked_schema(schema))

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        """Return the type of the dicts."""
        return GenericRecordAvroTypeInfo(self._format.schema)

    def create_source(self) -> FileSource:
        """Return the bounded source of the files."""
        return FileSource(self._format, [self._path])


@made_by("for_generic_record", "for_rows")
class AvroReaderFormat(AvroFileFormat):
    """Read Avro files, for `FileSource.for_bulk_file_format`. scurry's own; PyFlink has `AvroInputFormat` alone."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> AvroReaderFormat:
        """Return the format of dicts.

        Args:
            schema: What to read; the files may have been written with another, compatible one.
        """
        return AvroReaderFormat(checked_schema(schema))

    @staticmethod
    def for_rows(schema: AvroSchema) -> AvroReaderFormat:
        """Return the format of Rows, of the type `AvroRowDeserializationSchema` has.

        Args:
            schema: What to read, a record.

        Raises:
            UnsupportedError: The schema is not a record, or is a record that contains itself.
        """
        row_type_of(checked_schema(schema))
        return AvroReaderFormat(schema, rows=True)


class AvroBulkWriters:
    """Create writers of Avro files for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_generic_record(schema: AvroSchema, codec: str = "null") -> BulkWriterFactory:
        """Return the factory of writers of dicts or Rows.

        Args:
            schema: The schema of the records.
            codec: Compression: null (none, Flink's only one), deflate, snappy, bzip2, xz or zstandard.

        Raises:
            UnsupportedError: The codec is not supported.
        """
        if codec not in CODECS:
            raise UnsupportedError(f"Avro codec {codec!r}; use {', '.join(CODECS)}")
        return AvroFileWriterFactory(checked_schema(schema), codec)


def checked_schema(schema: AvroSchema) -> AvroSchema:
    """Return the schema if it is one.

    Raises:
        ArgumentTypeError: It is not an AvroSchema.
    """
    if not isinstance(schema, AvroSchema):
        raise ArgumentTypeError(f"expected an AvroSchema, e.g. AvroSchema.parse_string(json), got {schema!r}")
    return schema
