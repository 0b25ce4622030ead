"""Between Kafka's messages and records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from scurry.common.serialization import DeserializationSchema
from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.source import MalformedRecords
from scurry.errors import MalformedRecordError

__all__ = ["ConsumerRecord", "Decoder", "KafkaRecordDeserializationSchema", "RecordDecoder", "ValueDecoder"]

#: A block of records with their timestamps.
Block = tuple[list[Any], list[int]]


class ConsumerRecord(NamedTuple):
    """All there is to a record in Kafka.

    Attributes:
        topic: Its topic.
        partition: Its partition.
        offset: Its place in the partition.
        timestamp: Milliseconds since 1970; when it was made or appended, as the topic is configured.
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


class KafkaRecordDeserializationSchema(ABC):
    """Makes a record of all there is in Kafka: key, headers, timestamp and place too. Flink's class of that name."""

    @abstractmethod
    def deserialize(self, record: ConsumerRecord) -> Any:
        """Return the record, or None to skip it."""

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the records."""
        return Types.PICKLED_BYTE_ARRAY()


class Decoder(ABC):
    """Turns messages into records. Picklable."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation:
        """The type of the records."""

    @abstractmethod
    def decode(self, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield the records in some messages of librdkafka, and `MalformedRecords` where there is none in one."""


@dataclass(frozen=True)
class ValueDecoder(Decoder):
    """Reads values and nothing else; messages without any are skipped."""

    schema: DeserializationSchema

    @property
    def produced_type(self) -> TypeInformation:
        """What the schema says."""
        return self.schema.get_produced_type()

    @cached_property
    def _at_once(self) -> Callable[[list[bytes]], list[Any]] | None:
        """The schema's way to read many messages, unless a subclass has overridden only its way to read one."""
        for cls in type(self.schema).__mro__:
            if "deserialize_all" in vars(cls):
                return None if cls is DeserializationSchema else self.schema.deserialize_all
            if "deserialize" in vars(cls):
                return None
        return None

    def decode(self, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield the records in the values."""
        values = [message.value() for message in messages]
        if None in values:
            messages = [message for message, value in zip(messages, values, strict=True) if value is not None]
            values = [value for value in values if value is not None]
        at_once = self._at_once
        if at_once is not None:
            try:
                decoded = at_once(values)
            except Exception:
                pass  # what is wrong with which of them, the other way finds out
            else:
                yield _present(decoded, messages)
                return
        yield from _one_by_one(self.schema.deserialize, values, messages)


@dataclass(frozen=True)
class RecordDecoder(Decoder):
    """Hands everything to a `KafkaRecordDeserializationSchema`."""

    schema: KafkaRecordDeserializationSchema

    @property
    def produced_type(self) -> TypeInformation:
        """What the schema says."""
        return self.schema.get_produced_type()

    def decode(self, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield what the schema makes of the messages."""
        records = [
            ConsumerRecord(m.topic(), m.partition(), m.offset(), m.timestamp()[1], m.key(), m.value(),
                           tuple(m.headers() or ()))
            for m in messages
        ]  # fmt: skip
        yield from _one_by_one(self.schema.deserialize, records, messages)


def _one_by_one(deserialize: Callable[[Any], Any], inputs: Sequence[Any], messages: Sequence[Any]) -> Iterator[Block]:
    """What a deserializer makes of its inputs, which are in these messages; goes on behind those it fails on."""
    left, begin = iter(inputs), 0
    while begin < len(inputs):
        decoded: list[Any] = []
        malformed: Block | None = None
        try:
            for each in left:  # not map: it would take a StopIteration of the deserializer for the end
                decoded.append(deserialize(each))
        except ConnectionError:  # the message is not to blame
            raise
        except Exception as error:
            at = begin + len(decoded)
            malformed = MalformedRecords([_malformed(messages[at], inputs[at], error)]), [messages[at].timestamp()[1]]
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
