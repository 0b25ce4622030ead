"""Confluent's wire format: a zero byte, the id of the writer's schema in four bytes, and the value."""

from __future__ import annotations

from typing import Any

from scurry.connectors.avro.messages import MessageReader, MessageWriter
from scurry.connectors.avro.registry import SchemaRegistry, registry_at
from scurry.connectors.avro.registry_settings import RegistrySettings
from scurry.connectors.avro.schema import AvroSchema
from scurry.errors import MalformedRecordError

_HEADER = 5


class RegistryReader:
    """Read messages of any registered schema as values of one schema."""

    def __init__(self, schema: AvroSchema, settings: RegistrySettings) -> None:
        self._schema = schema
        self._settings = settings
        self._registry: SchemaRegistry | None = None
        self._readers: dict[bytes, MessageReader] = {}

    def read(self, message: bytes) -> Any:
        """Return the value in a message, in fastavro's terms.

        Raises:
            MalformedRecordError: The message has another header, its schema is unknown or does not fit, or its value
                cannot be decoded.
            SchemaRegistryError: The registry does not answer.
        """
        header = message[:_HEADER]
        reader = self._readers.get(header)
        if reader is None:
            reader = self._readers[header] = self._reader(header, message)
        return reader.read(message, _HEADER)

    def _reader(self, header: bytes, message: bytes) -> MessageReader:
        if len(header) < _HEADER or header[0] != 0:
            raise MalformedRecordError(
                "Avro message",
                None,
                message.decode("utf-8", "replace"),
                "it does not begin with a zero and the number of a schema; without a registry, use the schemas in "
                "datastream.formats.avro",
            )
        if self._registry is None:
            self._registry = registry_at(self._settings)
        return MessageReader(self._registry.schema(int.from_bytes(header[1:])), self._schema)


class RegistryWriter:
    """Write messages of one schema, which it registers with the first message."""

    def __init__(self, subject: str, schema: AvroSchema, settings: RegistrySettings) -> None:
        self._subject = subject
        self._schema = schema
        self._settings = settings
        self._write = MessageWriter(schema).write
        self._header: bytes | None = None

    def write(self, value: Any) -> bytes:
        """Return the message of a value.

        Raises:
            TypeMismatchError: The value does not fit the schema.
            SchemaRegistryError: The registry does not answer, or rejects the schema.
        """
        if self._header is None:
            number = registry_at(self._settings).register(self._subject, self._schema)
            self._header = b"\x00" + number.to_bytes(4)
        return self._write(value, self._header)
