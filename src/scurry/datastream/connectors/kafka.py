"""Kafka topics as sources and sinks: KafkaSource, KafkaSink, and their builders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any

from scurry.common._api import ApiObject, made_by
from scurry.common.pickling import of_functions
from scurry.common.serialization import SerializationSchema
from scurry.connectors.kafka.client import check
from scurry.connectors.kafka.partitions import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
)
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.records import ConsumerRecord, KafkaRecordDeserializationSchema
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema as _KafkaRecordSerializationSchema
from scurry.connectors.kafka.sink import KafkaSink as _KafkaSink
from scurry.connectors.kafka.topics import KafkaTopics, check_reading
from scurry.connectors.messages import MessageSource
from scurry.datastream.connectors._topics import TopicsSinkBuilder, TopicsSourceBuilder
from scurry.datastream.connectors.base import DeliveryGuarantee
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = [
    "ConsumerRecord",
    "FlinkKafkaConsumer",
    "FlinkKafkaProducer",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordDeserializationSchema",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
    "KafkaTopicSelector",
    "Semantic",
]


@made_by("builder")
class KafkaSource(ApiObject, MessageSource):
    """Read topics exactly once: the offsets of the records read are part of the checkpoint."""

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Return a builder; bootstrap servers, topics and a deserializer must be set."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder(TopicsSourceBuilder):
    """Builder of a KafkaSource."""

    def build(self) -> KafkaSource:
        """Return the source.

        Raises:
            ArgumentError: Servers, topics or deserializer are missing, or librdkafka refuses a property.
            ExtraMissingError: librdkafka is not installed.
            UnsupportedError: A property that only Java's clients support.
        """
        properties = ClientProperties(self._properties)
        group = properties.text("group.id") or None
        subscription, decoder = self._checked(group)
        check_reading(properties)
        return KafkaSource(
            KafkaTopics(properties, subscription, self._start, self._stop, group),
            decoder,
            self._bounded,
            self._drop_malformed,
        )


@made_by("builder")
class KafkaSink(ApiObject, _KafkaSink):
    """Write records to topics, with the delivery guarantee that is set."""

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Return a builder; bootstrap servers and a record serializer must be set."""
        return KafkaSinkBuilder()


class KafkaSinkBuilder(TopicsSinkBuilder):
    """Builder of a KafkaSink."""

    def build(self) -> KafkaSink:
        """Return the sink.

        Raises:
            ArgumentError: Servers or serializer are missing, or librdkafka refuses a property.
            ExtraMissingError: librdkafka is not installed.
            UnsupportedError: A property that only Java's clients support.
        """
        if self._properties.pop("transactional.id", None) is not None:
            raise ArgumentError("transactional.id is the sink's own; call set_transactional_id_prefix")
        properties = ClientProperties(self._properties)
        serializer = self._checked_serializer()
        check(properties)
        exactly_once = self._guarantee is DeliveryGuarantee.EXACTLY_ONCE
        return KafkaSink(properties, serializer, exactly_once, self._prefix)


@of_functions
class KafkaTopicSelector(ABC):
    """Select the topic of each record."""

    @abstractmethod
    def apply(self, data: Any) -> str:
        """Return the topic of a record."""


@made_by("builder")
class KafkaRecordSerializationSchema(ApiObject, _KafkaRecordSerializationSchema):
    """Convert records to messages with topic, key, value and headers."""

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Return a builder; a topic or a topic selector, and a value serializer, must be set."""
        return KafkaRecordSerializationSchemaBuilder()


class KafkaRecordSerializationSchemaBuilder(ApiObject):
    """Builder of a KafkaRecordSerializationSchema."""

    def __init__(self) -> None:
        """Begin with nothing set."""
        self._topic: str | None = None
        self._selector: Callable[[Any], str] | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None
        self._headers: Callable[[Any], list[tuple[str, bytes]]] | None = None

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        """Send all records to this topic."""
        self._topic, self._selector = topic, None
        return self

    def set_topic_selector(
        self, topic_selector: Callable[[Any], str] | KafkaTopicSelector
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Send each record to the topic that a function, or a KafkaTopicSelector, returns for it."""
        select = topic_selector.apply if isinstance(topic_selector, KafkaTopicSelector) else topic_selector
        if not callable(select):
            raise ArgumentTypeError(f"topic_selector must be KafkaTopicSelector or a callable, got {topic_selector!r}")
        self._topic, self._selector = None, select
        return self

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set the schema that makes the key from the record. Records with equal keys go to the same partition."""
        self._key = _schema(key_serialization_schema, "set_key_serialization_schema")
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set the schema that makes the value from the record."""
        self._value = _schema(value_serialization_schema, "set_value_serialization_schema")
        return self

    def set_header_provider(
        self, header_provider: Callable[[Any], list[tuple[str, bytes]]]
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set a function that returns a record's headers, names and bytes; Java's method of that name."""
        if not callable(header_provider):
            raise ArgumentTypeError(f"header_provider must be a callable, got {header_provider!r}")
        self._headers = header_provider
        return self

    def build(self) -> KafkaRecordSerializationSchema:
        """Return the serializer.

        Raises:
            ArgumentError: The topic or the value serializer is missing.
        """
        if not self._topic and self._selector is None:
            raise ArgumentError("no topic: call set_topic or set_topic_selector")
        if self._value is None:
            raise ArgumentError("no value serializer: call set_value_serialization_schema")
        return KafkaRecordSerializationSchema(self._value, self._topic, self._selector, self._key, self._headers)


def _schema(schema: Any, method: str) -> SerializationSchema:
    if not isinstance(schema, SerializationSchema):
        raise ArgumentTypeError(f"{method} takes a SerializationSchema, got {schema!r}")
    return schema


class Semantic(Enum):
    """The guarantee of FlinkKafkaProducer; see `DeliveryGuarantee`."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


class FlinkKafkaConsumer:
    """Flink's consumer before KafkaSource, removed from Flink 2."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Raise an error that names the replacement."""
        raise UnsupportedError("FlinkKafkaConsumer is not in Flink 2 any more; use KafkaSource.builder()")


class FlinkKafkaProducer:
    """Flink's producer before KafkaSink, removed from Flink 2."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Raise an error that names the replacement."""
        raise UnsupportedError("FlinkKafkaProducer is not in Flink 2 any more; use KafkaSink.builder()")
