"""Avro messages whose schemas are in a schema registry, in Confluent's wire format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scurry.common._api import made_by
from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.avro.confluent import RegistryReader, RegistryWriter
from scurry.connectors.avro.generic import GenericRecordAvroTypeInfo
from scurry.connectors.avro.registry_settings import RegistrySettings
from scurry.connectors.avro.rows import row_reader
from scurry.connectors.avro.schema import AvroSchema, row_type_of

__all__ = ["ConfluentRegistryAvroDeserializationSchema", "ConfluentRegistryAvroSerializationSchema"]


@made_by("for_generic", "for_row")
class ConfluentRegistryAvroDeserializationSchema(DeserializationSchema):
    """Read values that were written with any version of a schema in a registry; made by `for_generic` or `for_row`.

    Each message names the schema it was written with. That schema is fetched from the registry once per process, and
    its fields are matched with the reader's by Avro's rules of schema resolution.
    """

    def __init__(self, schema: AvroSchema, settings: RegistrySettings, as_rows: bool) -> None:
        self._arguments = (schema, settings, as_rows)
        self._type_info = row_type_of(schema) if as_rows else GenericRecordAvroTypeInfo(schema)
        self._row = row_reader(schema) if as_rows else None
        self._read = RegistryReader(schema, settings).read

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return type(self), self._arguments

    def __repr__(self) -> str:
        """Show the registry's address."""
        return f"{type(self).__name__}({self._arguments[1]})"

    @staticmethod
    def for_generic(
        schema: AvroSchema, url: str, registry_configs: Mapping[str, str] | None = None
    ) -> ConfluentRegistryAvroDeserializationSchema:
        """Return the schema that reads records as dicts: Flink's `forGeneric`.

        Args:
            schema: The schema to read.
            url: Address of the registry, or several with commas between them.
            registry_configs: Properties of Confluent's clients: `basic.auth.user.info`, `bearer.auth.token`,
                `ssl.ca.location`, `ssl.certificate.location`, `ssl.key.location`,
                `schema.registry.request.timeout.ms`.

        Raises:
            ArgumentError: A wrong address, or missing credentials.
            UnsupportedError: A property is not supported.
        """
        settings = RegistrySettings(url, registry_configs)
        return ConfluentRegistryAvroDeserializationSchema(schema, settings, as_rows=False)

    @staticmethod
    def for_row(
        schema: AvroSchema, url: str, registry_configs: Mapping[str, str] | None = None
    ) -> ConfluentRegistryAvroDeserializationSchema:
        """Return the schema that reads records as rows, of the types of `AvroRowDeserializationSchema`.

        Args:
            schema: The schema to read, a record.
            url: Address of the registry, or several with commas between them.
            registry_configs: As for `for_generic`.

        Raises:
            ArgumentError: A wrong address, or missing credentials.
            UnsupportedError: A property is not supported, or the schema is not a record.
        """
        settings = RegistrySettings(url, registry_configs)
        return ConfluentRegistryAvroDeserializationSchema(schema, settings, as_rows=True)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the values."""
        return self._type_info

    def deserialize(self, message: bytes) -> Any:
        """Return the value in a message.

        Raises:
            MalformedRecordError: It is not a message of this registry, or its schema and the reader's are incompatible.
            SchemaRegistryError: The registry does not answer, or refuses the request.
        """
        value = self._read(message)
        return value if self._row is None else self._row(value)


@made_by("for_generic")
class ConfluentRegistryAvroSerializationSchema(SerializationSchema):
    """Write dicts or rows, with the id of their schema in a registry; made by `for_generic`."""

    def __init__(self, subject: str, schema: AvroSchema, settings: RegistrySettings) -> None:
        self._arguments = (subject, schema, settings)
        self._write = RegistryWriter(subject, schema, settings).write

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return type(self), self._arguments

    def __repr__(self) -> str:
        """Show the subject and the registry's address."""
        return f"{type(self).__name__}({self._arguments[0]!r}, {self._arguments[2]})"

    @staticmethod
    def for_generic(
        subject: str,
        schema: AvroSchema,
        schema_registry_url: str,
        registry_configs: Mapping[str, str] | None = None,
    ) -> ConfluentRegistryAvroSerializationSchema:
        """Return the schema that writes dicts or rows: Flink's `forGeneric`.

        Args:
            subject: Subject under which the schema is registered when the first record is written; by Confluent's
                convention `<topic>-value` for the values of a topic and `<topic>-key` for its keys.
            schema: The schema to write.
            schema_registry_url: Address of the registry, or several with commas between them.
            registry_configs: As for the deserialization schema.

        Raises:
            ArgumentError: A wrong address, or missing credentials.
            UnsupportedError: A property is not supported.
        """
        settings = RegistrySettings(schema_registry_url, registry_configs)
        return ConfluentRegistryAvroSerializationSchema(subject, schema, settings)

    def serialize(self, value: Any) -> bytes:
        """Return the message of a value.

        Raises:
            TypeMismatchError: The value does not match the schema.
            SchemaRegistryError: The registry does not answer, or refuses the schema.
        """
        return self._write(value)
