"""Pulsar's messages: complete ones as records, their metadata as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from scurry.connectors.messages import MessageSystem
from scurry.sql.types import (
    MAX_LENGTH,
    DataType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    VarBinaryType,
    VarCharType,
)

_STRING = VarCharType(MAX_LENGTH).not_null()


class PulsarMessage(NamedTuple):
    """A complete message of Pulsar.

    Attributes:
        topic: The topic, a partition of a partitioned one.
        message_id: The serialized id.
        key: The key as text; empty without one.
        value: The bytes; None for a message without a value.
        publish_time: Milliseconds since 1970.
        event_time: Milliseconds since 1970; 0 if the producer has set none.
        properties: Names and texts.
        producer_name: Its producer.
    """

    topic: str
    message_id: bytes
    key: str
    value: bytes | None
    publish_time: int
    event_time: int
    properties: dict[str, str]
    producer_name: str

    @staticmethod
    def of(message: Any) -> PulsarMessage:
        """Return a message of the client."""
        return PulsarMessage(
            message.topic_name(),
            message.message_id().serialize(),
            message.partition_key(),
            None if message.has_null_value() else message.data(),
            message.publish_timestamp(),
            message.event_timestamp(),
            dict(message.properties()),
            message.producer_name(),
        )


_READERS: dict[str, Callable[[PulsarMessage], Any]] = {
    "topic": lambda message: message.topic,
    "message_size": lambda message: len(message.value or b""),
    "producer_name": lambda message: message.producer_name,
    "message_id": lambda message: message.message_id,
    "publish_time": lambda message: message.publish_time,
    "event_time": lambda message: message.event_time,
    "properties": lambda message: list(message.properties.items()),
}


class PulsarMessages(MessageSystem):
    """The messages of Pulsar."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "topic": _STRING,
        "message_size": IntType().not_null(),
        "producer_name": _STRING,
        "message_id": VarBinaryType(MAX_LENGTH).not_null(),
        "publish_time": LocalZonedTimestampType(3).not_null(),
        "event_time": LocalZonedTimestampType(3).not_null(),
        "properties": MapType(_STRING, _STRING).not_null(),
    }

    def key(self, message: PulsarMessage) -> bytes | None:
        return message.key.encode() or None

    def value(self, message: PulsarMessage) -> bytes | None:
        return message.value

    def timestamp(self, message: PulsarMessage) -> int:
        """Return the event time, else the publish time."""
        return message.event_time or message.publish_time

    def record(self, message: PulsarMessage) -> PulsarMessage:
        """Return the message."""
        return message

    def read(self, key: str, message: PulsarMessage) -> Any:
        return _READERS[key](message)

    def place(self, message: PulsarMessage) -> str:
        """Return topic and key of the message, and when it was published."""
        return f"topic {message.topic!r}, published at {message.publish_time}, id {message.message_id.hex()}"
