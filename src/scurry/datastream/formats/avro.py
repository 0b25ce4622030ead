"""Avro: rows and dicts as messages without a schema in them, and files; `avro_registry` has a registry's messages."""

from __future__ import annotations

import os
from typing import Any

from scurry.common._api import made_by
from scurry.common.io import InputFormat
from scurry.common.serialization import BulkWriterFactory, DeserializationSchema, SerializationSchema
from scurry.common.typeinfo import TypeInformation
from scurry.common.types import Row
from scurry.connectors.avro.codecs import CODECS
from scurry.connectors.avro.files import AvroFileFormat, AvroFileWriterFactory
from scurry.connectors.avro.generic import GenericRecordAvroTypeInfo
from scurry.connectors.avro.messages import MessageReader, MessageWriter
from scurry.connectors.avro.rows import row_reader
from scurry.connectors.avro.schema import AvroSchema, row_type_of
from scurry.connectors.files.reading.source import FileSource
from scurry.errors import ArgumentTypeError, UnsupportedError

__all__ = [
    "AvroBulkWriters",
    "AvroDeserializationSchema",
    "AvroInputFormat",
    "AvroReaderFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "AvroSerializationSchema",
    "GenericRecordAvroTypeInfo",
]


def _schema(record_class: str | None, avro_schema_string: str | None) -> AvroSchema:
    if record_class is not None:
        raise UnsupportedError(
            f"record_class={record_class!r} is a class of Java; give the schema it was generated from as "
            "avro_schema_string"
        )
    if avro_schema_string is None:
        raise ArgumentTypeError("record_class or avro_schema_string should be specified; give avro_schema_string")
    return AvroSchema(avro_schema_string)


class AvroRowDeserializationSchema(DeserializationSchema):
    """Read a row from a record in Avro's binary encoding.

    The row's type follows from the schema as in Flink: enums are STRING, arrays are arrays of objects, `timestamp-*` is
    SQL_TIMESTAMP in UTC, `time-*` is SQL_TIME, `decimal` is BIG_DEC, and a union with null is the other type; other
    logical types have the type they are based on. Values of a union of several types are not converted.
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        """Describe the messages.

        Args:
            record_class: A Java class; not supported.
            avro_schema_string: JSON of the schema they were written with, which is a record.

        Raises:
            ArgumentTypeError: No schema was given.
            ArgumentError: It is not an Avro schema.
            UnsupportedError: The schema is not a record, or contains itself; or `record_class` was given.
            ExtraMissingError: The package fastavro is missing.
        """
        self._schema = _schema(record_class, avro_schema_string)
        self._type_info = row_type_of(self._schema)
        self._read = MessageReader(self._schema).read
        self._row = row_reader(self._schema)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the schema."""
        return type(self), (None, str(self._schema))

    def get_produced_type(self) -> TypeInformation:
        """Return the row's type."""
        return self._type_info

    def deserialize(self, message: bytes) -> Row:
        """Return the row in a message.

        Raises:
            MalformedRecordError: The message is not such a record.
        """
        row: Row = self._row(self._read(message))
        return row


class AvroRowSerializationSchema(SerializationSchema):
    """Write a row as a record in Avro's binary encoding."""

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        """Describe the messages.

        Args:
            record_class: A Java class; not supported.
            avro_schema_string: JSON of their schema, which is a record.

        Raises:
            ArgumentTypeError: No schema was given.
            ArgumentError: It is not an Avro schema.
            UnsupportedError: The schema is not a record, or contains itself; or `record_class` was given.
            ExtraMissingError: The package fastavro is missing.
        """
        self._schema = _schema(record_class, avro_schema_string)
        row_type_of(self._schema)
        self._write = MessageWriter(self._schema).write

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the schema."""
        return type(self), (None, str(self._schema))

    def serialize(self, value: Any) -> bytes:
        """Return the record of a row; its fields are found by name, or by position if it has no names.

        Raises:
            TypeMismatchError: The value is not such a row.
        """
        return self._write(value)


@made_by("for_generic")
class AvroDeserializationSchema(DeserializationSchema):
    """Read values of an Avro schema as plain Python, records as dicts; made by `for_generic`."""

    def __init__(self, schema: AvroSchema, writer_schema: AvroSchema | None = None) -> None:
        self._schemas = schema, writer_schema
        self._read = MessageReader(writer_schema or schema, schema).read

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the schemas."""
        return type(self), self._schemas

    @staticmethod
    def for_generic(schema: AvroSchema, writer_schema: AvroSchema | None = None) -> AvroDeserializationSchema:
        """Return the schema that reads dicts.

        Args:
            schema: The schema to read: a record, or any other type.
            writer_schema: The schema the messages were written with, if it differs; fields are matched by Avro's rules
                of schema resolution.
        """
        return AvroDeserializationSchema(schema, writer_schema)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the values."""
        return GenericRecordAvroTypeInfo(self._schemas[0])

    def deserialize(self, message: bytes) -> Any:
        """Return the value in a message.

        Raises:
            MalformedRecordError: The message is not such a value.
        """
        return self._read(message)


@made_by("for_generic")
class AvroSerializationSchema(SerializationSchema):
    """Write values of an Avro schema, records from dicts or rows; made by `for_generic`."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._write = MessageWriter(schema).write

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the schema."""
        return type(self), (self._schema,)

    @staticmethod
    def for_generic(schema: AvroSchema) -> AvroSerializationSchema:
        """Return the schema that writes dicts."""
        return AvroSerializationSchema(schema)

    def serialize(self, value: Any) -> bytes:
        """Return the bytes of a value.

        Raises:
            TypeMismatchError: The value does not match the schema.
        """
        return self._write(value)


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
