"""JSON: rows in messages, and in files with a JSON object per line."""

from __future__ import annotations

from typing import Any

from scurry.common._api import ApiObject, at_boundary, made_by
from scurry.common._charsets import text_of
from scurry.common.serialization import BulkWriterFactory, DeserializationSchema, SerializationSchema
from scurry.common.typeinfo import RowTypeInfo, TypeInformation
from scurry.common.types import Row
from scurry.connectors.files.formats.json.reader import JsonSettings, parsed
from scurry.connectors.files.formats.message_lines import MessageLinesFormat, MessageLinesWriterFactory
from scurry.datastream.formats._json_records import row_reader, row_writer
from scurry.datastream.formats._json_schema import type_info_of_schema
from scurry.errors import ArgumentError, ArgumentTypeError, MalformedRecordError

__all__ = ["JsonBulkWriters", "JsonReaderFormat", "JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


@made_by("builder")
class JsonRowDeserializationSchema(DeserializationSchema):
    """Read a row from a JSON object, by field names; made by `builder()`.

    A missing field is null. As in Flink, numbers may be quoted, and any value can be read as text.
    """

    def __init__(
        self,
        type_info: RowTypeInfo,
        fail_on_missing_field: bool,
        ignore_parse_errors: bool,
        required: tuple[str, ...] = (),
    ) -> None:
        self._arguments = (type_info, fail_on_missing_field, ignore_parse_errors, required)
        settings = JsonSettings(ignore_errors=ignore_parse_errors, fail_on_missing=fail_on_missing_field)
        self._read = row_reader(type_info, settings, required)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return type(self), self._arguments

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Return a builder."""
        return JsonRowDeserializationSchema.Builder()

    def get_produced_type(self) -> TypeInformation:
        """Return the row's type."""
        return self._arguments[0]

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row in a message, None for JSON's null; with `ignore_parse_errors`, None if there is no object.

        Raises:
            MalformedRecordError: The message is not such a row.
        """
        try:
            value = parsed(message)
            row: Row | None = None if value is None else self._read(value)
            return row
        except (ValueError, EOFError) as error:
            if self._arguments[2]:
                return None
            raise MalformedRecordError("JSON message", None, text_of(message, "replace"), str(error)) from None

    class Builder(ApiObject):
        """Builder of the schema."""

        def __init__(self) -> None:
            """Begin without a type."""
            self._type_info: TypeInformation | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation) -> JsonRowDeserializationSchema.Builder:
            """Set the row's type; its field names are those of the JSON object."""
            self._type_info = type_info
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """Set the row's type by a JSON schema.

            Raises:
                ArgumentTypeError: It is not a str.
                ArgumentError: It is not a JSON schema.
                UnsupportedError: It uses a part of JSON schema that has no type.
            """
            if json_schema is None:
                raise ArgumentTypeError("json_schema takes the text of a JSON schema, got None")
            self._type_info = type_info_of_schema(json_schema)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """Fail if a field is missing, instead of reading it as null."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """Read fields that cannot be parsed as null, and such messages as None."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """Return the schema.

            Raises:
                ArgumentTypeError: No row type was set.
                ArgumentError: Both `fail_on_missing_field` and `ignore_parse_errors` were chosen.
                UnsupportedError: The row has a type that JSON messages do not support.
            """
            if self._fail_on_missing_field and self._ignore_parse_errors:
                raise ArgumentError("fail_on_missing_field and ignore_parse_errors exclude each other; choose one")
            return JsonRowDeserializationSchema(
                _row_type(self._type_info), self._fail_on_missing_field, self._ignore_parse_errors
            )


@made_by("builder")
class JsonRowSerializationSchema(SerializationSchema):
    """Write a row as a JSON object; made by `builder()`."""

    def __init__(self, type_info: RowTypeInfo) -> None:
        self._type_info = type_info
        self._write = row_writer(type_info)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return type(self), (self._type_info,)

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Return a builder."""
        return JsonRowSerializationSchema.Builder()

    def serialize(self, value: Any) -> bytes:
        """Return the JSON object of a row, in UTF-8.

        Raises:
            TypeMismatchError: The value is not such a row.
        """
        return self._write(value).encode()

    class Builder(ApiObject):
        """Builder of the schema."""

        def __init__(self) -> None:
            """Begin without a type."""
            self._type_info: TypeInformation | None = None

        def with_type_info(self, type_info: TypeInformation) -> JsonRowSerializationSchema.Builder:
            """Set the row's type; its field names become those of the JSON object."""
            self._type_info = type_info
            return self

        def build(self) -> JsonRowSerializationSchema:
            """Return the schema.

            Raises:
                ArgumentTypeError: No row type was set.
                UnsupportedError: The row has a type that JSON messages do not support.
            """
            return JsonRowSerializationSchema(_row_type(self._type_info))


@made_by("for_type_info", "for_schema")
class JsonReaderFormat(MessageLinesFormat):
    """Read rows from files with a JSON object per line. scurry's own; made like PyFlink's `CsvReaderFormat`."""

    @staticmethod
    def for_type_info(type_info: TypeInformation, fail_on_missing_field: bool = False) -> JsonReaderFormat:
        """Return the format of rows, which reads as `JsonRowDeserializationSchema` does.

        Args:
            type_info: The row's type; its field names are those of the JSON objects.
            fail_on_missing_field: Whether a record with a missing field is malformed, instead of the field being null.

        Raises:
            ArgumentTypeError: It is not a row type.
            UnsupportedError: The row has a type that JSON does not support.
        """
        return JsonReaderFormat(JsonRowDeserializationSchema(_row_type(type_info), fail_on_missing_field, False))

    @staticmethod
    @at_boundary
    def for_schema(schema: DeserializationSchema) -> JsonReaderFormat:
        """Return the format of lines that any given schema reads; a line for which it returns None is skipped.

        Raises:
            ArgumentTypeError: It is not a DeserializationSchema.
        """
        if not isinstance(schema, DeserializationSchema):
            raise ArgumentTypeError(f"for_schema takes a DeserializationSchema, got {schema!r}")
        return JsonReaderFormat(schema)


class JsonBulkWriters:
    """Create writers of files with a JSON object per line, for `FileSink.for_bulk_format`. scurry's own."""

    @staticmethod
    def for_type_info(type_info: TypeInformation) -> BulkWriterFactory:
        """Return the factory of writers of rows, which write as `JsonRowSerializationSchema` does.

        Raises:
            ArgumentTypeError: It is not a row type.
            UnsupportedError: The row has a type that JSON does not support.
        """
        return MessageLinesWriterFactory(JsonRowSerializationSchema(_row_type(type_info)))


def _row_type(type_info: TypeInformation | None) -> RowTypeInfo:
    if not isinstance(type_info, RowTypeInfo):
        raise ArgumentTypeError(f"JSON messages are rows: set Types.ROW_NAMED(names, types) as type, got {type_info!r}")
    return type_info
