"""KafkaMessages: the metadata of Kafka's messages as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from scurry.sql.connectors.messages.rows import MessageSystem
from scurry.sql.types import (
    MAX_LENGTH,
    BigIntType,
    DataType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    VarBinaryType,
    VarCharType,
)

_STRING = VarCharType(MAX_LENGTH).not_null()
_TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}


class KafkaMessages(MessageSystem):
    """The messages of librdkafka."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "topic": _STRING,
        "partition": IntType().not_null(),
        "headers": MapType(_STRING, VarBinaryType(MAX_LENGTH).not_null()).not_null(),
        "leader-epoch": IntType(),
        "offset": BigIntType().not_null(),
        "timestamp": LocalZonedTimestampType(3).not_null(),
        "timestamp-type": _STRING,
    }
    written = ("headers", "timestamp", "topic")

    def key(self, message: Any) -> bytes | None:
        """Return the key."""
        found: bytes | None = message.key()
        return found

    def value(self, message: Any) -> bytes | None:
        """Return the value."""
        found: bytes | None = message.value()
        return found

    def read(self, key: str, message: Any) -> Any:
        """Return a value of the metadata."""
        return _READERS[key](message)

    def place(self, message: Any) -> str:
        """Return topic, partition and offset."""
        return f"topic {message.topic()!r}, partition {message.partition()}, offset {message.offset()}"


_READERS: dict[str, Callable[[Any], Any]] = {
    "topic": lambda message: message.topic(),
    "partition": lambda message: message.partition(),
    "headers": lambda message: [(name, value or b"") for name, value in message.headers() or ()],
    "leader-epoch": lambda message: message.leader_epoch(),
    "offset": lambda message: message.offset(),
    "timestamp": lambda message: message.timestamp()[1],
    "timestamp-type": lambda message: _TIMESTAMP_TYPES.get(message.timestamp()[0], "NoTimestampType"),
}
