"""Conversion of records to Kafka's: topic, key, value, headers, timestamp."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.common.serialization import SerializationSchema

#: topic, key, value, timestamp in milliseconds (0: now), headers
ProducerRecord = tuple[str, "bytes | None", "bytes | None", int, "list[tuple[str, bytes]] | None"]


class RecordSerializer(Protocol):
    """Convert records to Kafka's."""

    @property
    def topic(self) -> str | None:
        """The topic of all records; None if each has its own."""

    def records(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> list[ProducerRecord]:
        """Return the Kafka records of a block of records."""


@dataclass(frozen=True)
class KafkaRecordSerializationSchema:
    """Serialize records for Kafka; created by `builder()`.

    Attributes:
        value_schema: Serializes the value.
        topic: The topic of all records; None if a selector chooses it.
        topic_selector: Returns a record's topic.
        key_schema: Serializes the key from the whole record; None for records without a key.
        header_provider: Returns a record's headers.
    """

    value_schema: SerializationSchema
    topic: str | None = None
    topic_selector: Callable[[Any], str] | None = None
    key_schema: SerializationSchema | None = None
    header_provider: Callable[[Any], list[tuple[str, bytes]]] | None = None

    def records(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> list[ProducerRecord]:
        """Return the Kafka records of a block of records.

        Args:
            values: The records.
            timestamps: Their timestamps in milliseconds; without one, or before 1970, the time of writing is used.
        """
        select, headers = self.topic_selector, self.header_provider
        # no map of a user's function, which would end at a StopIteration
        topics: Iterable[Any] = repeat(self.topic) if select is None else [select(value) for value in values]
        key_of = None if self.key_schema is None else self.key_schema.serialize
        value_of = self.value_schema.serialize
        keys: Iterable[Any] = repeat(None) if key_of is None else [key_of(value) for value in values]
        times: Iterable[int] = repeat(0) if timestamps is None else [time if time > 0 else 0 for time in timestamps]
        each: Iterable[Any] = repeat(None) if headers is None else [headers(value) for value in values]
        return list(zip(topics, keys, [value_of(value) for value in values], times, each, strict=False))
