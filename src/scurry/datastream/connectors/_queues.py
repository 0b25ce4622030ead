"""Builders of sources and sinks of queues: their common part."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar, Self

from scurry.common._api import ApiObject
from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.connectors.messages import Decoder, RecordDecoder, ValueDecoder
from scurry.datastream.connectors.base import DeliveryGuarantee, checked_guarantee
from scurry.errors import ArgumentError, ArgumentTypeError


class QueueSourceBuilder(ApiObject):
    """The common part of builders of sources."""

    def __init__(self) -> None:
        """Begin with nothing set."""
        self._decoder: Decoder | None = None
        self._drop_malformed = False

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema) -> Self:
        """Set the schema that reads values."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise ArgumentTypeError(
                f"set_value_only_deserializer takes a DeserializationSchema, got {deserialization_schema!r}"
            )
        self._decoder = ValueDecoder(deserialization_schema)
        return self

    def set_deserializer(self, record_deserializer: Any) -> Self:
        """Set the object that reads complete messages: `deserialize(message)` and `get_produced_type()`.

        `deserialize` returns the record, or None to skip the message.
        """
        if not all(callable(getattr(record_deserializer, name, None)) for name in ("deserialize", "get_produced_type")):
            raise ArgumentTypeError(
                "set_deserializer takes an object with deserialize(message) and get_produced_type(), got "
                f"{record_deserializer!r}"
            )
        self._decoder = RecordDecoder(record_deserializer)
        return self

    def drop_malformed_records(self) -> Self:
        """Skip messages that the deserializer fails on, instead of failing; the job's summary counts them."""
        self._drop_malformed = True
        return self

    def _built_decoder(self) -> Decoder:
        if self._decoder is None:
            raise ArgumentError("no deserializer: call set_value_only_deserializer, e.g. with SimpleStringSchema()")
        return self._decoder


class QueueSinkBuilder(ApiObject):
    """The common part of builders of sinks.

    Attributes:
        target: The word for what messages are sent to.
    """

    target: ClassVar[str] = "stream"

    def __init__(self) -> None:
        """Begin with the delivery guarantee AT_LEAST_ONCE."""
        self._exactly_once = False
        self._target: str | None = None
        self._selector: Callable[[Any], str] | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None

    def _to(self, target: str | None, selector: Callable[[Any], str] | None) -> Self:
        if selector is not None and not callable(selector):
            raise ArgumentTypeError(f"a selector is a function of a record, got {selector!r}")
        self._target, self._selector = target, selector
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set the guarantee when a failed job resumes; NONE is the same as AT_LEAST_ONCE here."""
        self._exactly_once = checked_guarantee(delivery_guarantee) is DeliveryGuarantee.EXACTLY_ONCE
        return self

    def set_value_serialization_schema(self, value_serialization_schema: SerializationSchema) -> Self:
        """Set the schema that makes the value from the record."""
        self._value = _schema(value_serialization_schema, "set_value_serialization_schema")
        return self

    def set_key_serialization_schema(self, key_serialization_schema: SerializationSchema) -> Self:
        """Set the schema that makes the key from the record."""
        self._key = _schema(key_serialization_schema, "set_key_serialization_schema")
        return self

    def _built_serializer(self) -> KafkaRecordSerializationSchema:
        if not self._target and self._selector is None:
            raise ArgumentError(f"nothing to write to: call set_{self.target} or set_{self.target}_selector")
        if self._value is None:
            raise ArgumentError("no value serializer: call set_value_serialization_schema")
        return KafkaRecordSerializationSchema(self._value, self._target, self._selector, self._key)


class StagingSinkBuilder(QueueSinkBuilder):
    """The common part of builders of sinks whose driver stages records to write them exactly once."""

    def __init__(self) -> None:
        """Begin without a staging directory."""
        super().__init__()
        self._staging: str | None = None

    def set_staging_dir(self, path: str) -> Self:
        """Set the directory where EXACTLY_ONCE stages records before they are sent.

        Args:
            path: A directory that the driver finds again when the job resumes, such as one beside its checkpoints.
        """
        self._staging = os.path.abspath(path)
        return self

    def _built_staging(self, reason: str) -> str | None:
        if self._exactly_once and self._staging is None:
            raise ArgumentError(
                f"EXACTLY_ONCE needs a staging directory, because {reason}: call set_staging_dir with a directory "
                "beside the checkpoints"
            )
        return self._staging if self._exactly_once else None


def _schema(schema: Any, method: str) -> SerializationSchema:
    if not isinstance(schema, SerializationSchema):
        raise ArgumentTypeError(f"{method} takes a SerializationSchema, got {schema!r}")
    return schema
