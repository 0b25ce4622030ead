"""Conversion of Kafka's messages to records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from scurry.common.pickling import of_functions
from scurry.common.serialization import DeserializationSchema
from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.source import MalformedRecords
from scurry.errors import MalformedRecordError

#: A block of records with their timestamps.
Block = tuple[list[Any], list[int]] | MalformedRecords


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


class Decoder(ABC):
    """Turn messages into records. Picklable."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation:
        """The type of the records."""

    @abstractmethod
    def decode(self, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield the records of librdkafka's messages, and `MalformedRecords` for messages that cannot be decoded."""


@dataclass(frozen=True)
class ValueDecoder(Decoder):
    """Decode the values of messages; messages without a value are skipped."""

    schema: DeserializationSchema

    @property
    def produced_type(self) -> TypeInformation:
        """The schema's type."""
        return self.schema.get_produced_type()

    @cached_property
    def _at_once(self) -> Callable[[list[bytes]], list[Any]] | None:
        """The schema's `deserialize_all`, unless a subclass overrides only `deserialize`."""
        for cls in type(self.schema).__mro__:
            if "deserialize_all" in vars(cls):
                return None if cls is DeserializationSchema else self.schema.deserialize_all
            if "deserialize" in vars(cls):
                return None
        return None

    def decode(self, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield the records of the messages' values."""
        values = [message.value() for message in messages]
        if None in values:
            messages = [message for message, value in zip(messages, values, strict=True) if value is not None]
            values = [value for value in values if value is not None]
        at_once = self._at_once
        if at_once is not None:
            try:
                decoded = at_once(values)
            except Exception:
                pass  # decoding one by one finds the malformed message
            else:
                yield _present(decoded, messages)
                return
        yield from _one_by_one(self.schema.deserialize, values, messages)


@dataclass(frozen=True)
class RecordDecoder(Decoder):
    """Decode complete messages with a `KafkaRecordDeserializationSchema`."""

    schema: KafkaRecordDeserializationSchema

    @property
    def produced_type(self) -> TypeInformation:
        """The schema's type."""
        return self.schema.get_produced_type()

    def decode(self, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield the records that the schema returns for the messages."""
        records = [
            ConsumerRecord(
                m.topic(), m.partition(), m.offset(), m.timestamp()[1], m.key(), m.value(), tuple(m.headers() or ())
            )
            for m in messages
        ]
        yield from _one_by_one(self.schema.deserialize, records, messages)


def _one_by_one(deserialize: Callable[[Any], Any], inputs: Sequence[Any], messages: Sequence[Any]) -> Iterator[Block]:
    """Yield the deserialized inputs, one per message; continue behind those that fail, as malformed records."""
    left, begin = iter(inputs), 0
    while begin < len(inputs):
        decoded: list[Any] = []
        malformed: MalformedRecords | None = None
        try:
            for each in left:  # not map, which would end at a StopIteration of the deserializer
                decoded.append(deserialize(each))
        except ConnectionError:  # not the message's fault
            raise
        except Exception as error:
            at = begin + len(decoded)
            times = [messages[at].timestamp()[1]]
            malformed = MalformedRecords([_malformed(messages[at], inputs[at], error)], times)
        end = begin + len(decoded)
        yield _present(decoded, messages[begin:end])
        if malformed is not None:
            yield malformed
            end += 1
        begin = end


def _present(decoded: list[Any], messages: Sequence[Any]) -> Block:
    times = [message.timestamp()[1] for message in messages]
    if None not in decoded:
        return decoded, times
    kept = [position for position, record in enumerate(decoded) if record is not None]
    return [decoded[position] for position in kept], [times[position] for position in kept]


def _malformed(message: Any, record: Any, error: Exception) -> MalformedRecordError:
    place = f"topic {message.topic()!r}, partition {message.partition()}, offset {message.offset()}"
    reason = error.reason if isinstance(error, MalformedRecordError) else f"{type(error).__name__}: {error}"
    text = bytes(message.value() or b"").decode("utf-8", "replace")
    malformed = MalformedRecordError(place, None, text, reason, record)
    malformed.__cause__ = error
    return malformed
