"""Kafka's messages: complete ones as records, their metadata as columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from scurry.common.pickling import of_functions
from scurry.common.serialization import DeserializationSchema
from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.messages import MessageSystem
from scurry.errors import ArgumentTypeError
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


class ConsumerRecord(NamedTuple):
    """A complete Kafka record, with key, headers, timestamp and offset.

    Attributes:
        topic: The topic.
        partition: The partition's number.
        offset: The offset in the partition.
        timestamp: Milliseconds since 1970; the time of creation or of appending, as the topic is configured.
        key: The key's bytes, or None.
        value: The value's bytes, or None (a tombstone).
        headers: Names and bytes, in order.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@of_functions
class KafkaRecordDeserializationSchema(ABC):
    """Deserialize a complete `ConsumerRecord`, not only its value: Flink's `KafkaRecordDeserializationSchema`."""

    @abstractmethod
    def deserialize(self, record: ConsumerRecord) -> Any:
        """Return the record, or None to skip it."""

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the records."""
        return Types.PICKLED_BYTE_ARRAY()

    @staticmethod
    def value_only(deserialization_schema: DeserializationSchema) -> KafkaRecordDeserializationSchema:
        """Return a schema that reads only values; messages without a value are skipped.

        Raises:
            ArgumentTypeError: It is no DeserializationSchema.
        """
        return ValueOnly(deserialization_schema)


class ValueOnly(KafkaRecordDeserializationSchema):
    """Deserialize the values of records.

    Attributes:
        schema: Reads a value.
    """

    def __init__(self, schema: DeserializationSchema) -> None:
        if not isinstance(schema, DeserializationSchema):
            raise ArgumentTypeError(f"value_only takes a DeserializationSchema, got {schema!r}")
        self.schema = schema

    def deserialize(self, record: ConsumerRecord) -> Any:
        """Return the deserialized value, None for a record without one."""
        return None if record.value is None else self.schema.deserialize(record.value)

    def get_produced_type(self) -> TypeInformation:
        """Return the schema's type."""
        return self.schema.get_produced_type()


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
        found: bytes | None = message.key()
        return found

    def value(self, message: Any) -> bytes | None:
        found: bytes | None = message.value()
        return found

    def timestamp(self, message: Any) -> int:
        """Return the time of creation or of appending, as the topic is configured."""
        time: int = message.timestamp()[1]
        return time

    def record(self, message: Any) -> ConsumerRecord:
        """Return the record with all that Kafka keeps of it."""
        return ConsumerRecord(
            message.topic(),
            message.partition(),
            message.offset(),
            message.timestamp()[1],
            message.key(),
            message.value(),
            tuple(message.headers() or ()),
        )

    def read(self, key: str, message: Any) -> Any:
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
