"""The messages of a log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from scurry.connectors.kafka.records import ConsumerRecord, KafkaMessages
from scurry.connectors.messages import MessageSystem
from scurry.sql.types import DataType

#: topic, partition, offset, timestamp in milliseconds, key, value, headers: the fields of a ConsumerRecord
Message = tuple[str, int, int, int, "bytes | None", "bytes | None", "tuple[tuple[str, bytes | None], ...]"]


class LogMessages(MessageSystem):
    """The messages of a log: tuples, which are quicker to make than objects."""

    metadata: ClassVar[Mapping[str, DataType]] = KafkaMessages.metadata
    written = KafkaMessages.written

    def key(self, message: Message) -> bytes | None:
        return message[4]

    def value(self, message: Message) -> bytes | None:
        return message[5]

    def timestamp(self, message: Message) -> int:
        return message[3]

    def record(self, message: Message) -> ConsumerRecord:
        """Return the record as a Kafka source has it."""
        return ConsumerRecord(*message)

    def read(self, key: str, message: Message) -> Any:
        """Return metadata as Kafka's brokers would; a log has no leaders."""
        if key == "headers":
            return [(name, value or b"") for name, value in message[6]]
        return {
            "topic": message[0],
            "partition": message[1],
            "leader-epoch": None,
            "offset": message[2],
            "timestamp": message[3],
            "timestamp-type": "CreateTime",
        }[key]

    def place(self, message: Message) -> str:
        """Return topic, partition and offset."""
        return f"topic {message[0]!r}, partition {message[1]}, offset {message[2]}"
