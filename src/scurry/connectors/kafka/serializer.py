"""What a record becomes in Kafka: topic, key, value, headers, timestamp."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from scurry.common.serialization import SerializationSchema

__all__ = ["KafkaRecordSerializationSchema", "ProducerRecord"]

#: topic, key, value, timestamp in milliseconds (0: now), headers
ProducerRecord = tuple[str, "bytes | None", bytes, int, "list[tuple[str, bytes]] | None"]


@dataclass(frozen=True)
class KafkaRecordSerializationSchema:
    """Says what records become in Kafka; made by `builder()`.

    Attributes:
        value_schema: Makes the value.
        topic: Where all records go, None if a selector says.
        topic_selector: Returns a record's topic.
        key_schema: Makes the key, of the whole record; None for records without key.
        header_provider: Returns a record's headers.
    """

    value_schema: SerializationSchema
    topic: str | None = None
    topic_selector: Callable[[Any], str] | None = None
    key_schema: SerializationSchema | None = None
    header_provider: Callable[[Any], list[tuple[str, bytes]]] | None = None

    def records(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> list[ProducerRecord]:
        """Return what a block of records becomes.

        Args:
            values: The records.
            timestamps: Theirs, in milliseconds; those before 1970, and none, become the time of writing, as in Flink.
        """
        select, headers = self.topic_selector, self.header_provider
        topics: Iterable[Any] = repeat(self.topic) if select is None else map(select, values)
        keys: Iterable[Any] = repeat(None) if self.key_schema is None else map(self.key_schema.serialize, values)
        times: Iterable[int] = repeat(0) if timestamps is None else [time if time > 0 else 0 for time in timestamps]
        each: Iterable[Any] = repeat(None) if headers is None else map(headers, values)
        return list(zip(topics, keys, map(self.value_schema.serialize, values), times, each, strict=False))
