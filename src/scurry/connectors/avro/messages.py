"""Avro messages: values in binary encoding, without their schema."""

from __future__ import annotations

import copy
import io
from typing import Any

from scurry.connectors.avro.library import fastavro
from scurry.connectors.avro.records import record_maker
from scurry.connectors.avro.schema import AvroSchema
from scurry.errors import MalformedRecordError, TypeMismatchError


class MessageReader:
    """Read messages written with one schema as values of the same or another schema."""

    def __init__(self, writer: AvroSchema, reader: AvroSchema | None = None) -> None:
        """Resolve the writer's schema against the reader's.

        Args:
            writer: The schema of the messages.
            reader: The schema of the values, by Avro's rules of schema resolution; None for the writer's.
        """
        self._read = fastavro().schemaless_reader
        other = None if reader is None or reader == writer else reader
        self._schemas = writer.parsed, None if other is None else other.parsed
        self._copied = other is not None and other.mutable_defaults

    def read(self, message: bytes, start: int = 0) -> Any:
        """Return the value in a message, in fastavro's types; ignore further bytes.

        Args:
            message: The bytes.
            start: The position where the value begins.

        Raises:
            MalformedRecordError: The value cannot be decoded.
        """
        stream = io.BytesIO(message)
        stream.seek(start)
        try:
            value = self._read(stream, *self._schemas)
        except Exception as error:  # invalid lengths or indexes may raise any error
            reason = "it ends too early" if isinstance(error, EOFError) else f"{type(error).__name__}: {error}"
            raise MalformedRecordError("Avro message", None, message.decode("utf-8", "replace"), reason) from None
        return copy.deepcopy(value) if self._copied else value


class MessageWriter:
    """Write messages of one schema."""

    def __init__(self, schema: AvroSchema) -> None:
        self._write = fastavro().schemaless_writer
        self._schema = schema
        self._parsed = schema.parsed
        self._made = record_maker(schema)

    def write(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the message of a value.

        Args:
            value: A value of the schema; for a record, a row or dict.
            prefix: Bytes before the value.

        Raises:
            TypeMismatchError: The value does not fit the schema.
        """
        stream = io.BytesIO()
        stream.write(prefix)
        made = self._made(value)
        try:
            self._write(stream, self._parsed, made)
        except Exception as error:
            declared = self._parsed["name"] if isinstance(self._parsed, dict) and "name" in self._parsed else "value"
            raise TypeMismatchError(f"Avro {declared}", value, str(error) or type(error).__name__) from None
        return stream.getvalue()
