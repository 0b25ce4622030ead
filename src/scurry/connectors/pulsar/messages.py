"""Pulsar's messages: those of its client, complete ones as records, their metadata as columns."""

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


_READERS: dict[str, Callable[[Any], Any]] = {
    "topic": lambda message: message.topic_name(),
    "message_size": lambda message: len(message.data()),
    "producer_name": lambda message: message.producer_name(),
    "message_id": lambda message: message.message_id().serialize(),
    "publish_time": lambda message: message.publish_timestamp(),
    "event_time": lambda message: message.event_timestamp(),
    "properties": lambda message: list(message.properties().items()),
}


class PulsarMessages(MessageSystem):
    """The messages of Pulsar's client, which is asked for the needed parts only: each answer costs a microsecond."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "topic": _STRING,
        "message_size": IntType().not_null(),
        "producer_name": _STRING,
        "message_id": VarBinaryType(MAX_LENGTH).not_null(),
        "publish_time": LocalZonedTimestampType(3).not_null(),
        "event_time": LocalZonedTimestampType(3).not_null(),
        "properties": MapType(_STRING, _STRING).not_null(),
    }

    def key(self, message: Any) -> bytes | None:
        return message.partition_key().encode() or None

    def value(self, message: Any) -> bytes | None:
        return message.data() or (None if message.has_null_value() else b"")

    def timestamp(self, message: Any) -> int:
        """Return the event time, else the publish time."""
        time: int = message.event_timestamp() or message.publish_timestamp()
        return time

    def record(self, message: Any) -> PulsarMessage:
        return PulsarMessage.of(message)

    def read(self, key: str, message: Any) -> Any:
        return _READERS[key](message)

    def place(self, message: Any) -> str:
        """Return the topic of the message, when it was published, and its id."""
        found = PulsarMessage.of(message)
        return f"topic {found.topic!r}, published at {found.publish_time}, id {found.message_id.hex()}"
