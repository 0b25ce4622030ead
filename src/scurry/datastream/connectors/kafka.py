"""Kafka topics as sources and sinks: KafkaSource, KafkaSink, and their builders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from scurry.common._api import ApiObject, made_by
from scurry.common._java_regex.patterns import compiled
from scurry.common.pickling import of_functions
from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.connectors.kafka.client import check
from scurry.connectors.kafka.partitions import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Subscription,
)
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.records import ConsumerRecord, KafkaRecordDeserializationSchema
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema as _KafkaRecordSerializationSchema
from scurry.connectors.kafka.sink import KafkaSink as _KafkaSink
from scurry.connectors.kafka.topics import KafkaTopics
from scurry.connectors.messages import Decoder, MessageSource, RecordDecoder, ValueDecoder
from scurry.datastream.connectors.base import DeliveryGuarantee
from scurry.errors import ArgumentError, ArgumentTypeError, EvaluationError, UnsupportedError

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


class KafkaSourceBuilder(ApiObject):
    """Builder of a KafkaSource."""

    def __init__(self) -> None:
        """Begin with an unbounded source that reads from the earliest offsets."""
        self._properties: dict[str, Any] = {}
        self._subscription: Subscription | None = None
        self._decoder: Decoder | None = None
        self._start = KafkaOffsetsInitializer.earliest()
        self._stop: KafkaOffsetsInitializer | None = None
        self._bounded = False
        self._drop_malformed = False

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        """Set the brokers to ask first: `host:port`, separated by commas."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """Set the consumer group, whose offsets are committed with each micro-batch for monitoring."""
        return self.set_property("group.id", group_id)

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        """Set the name by which brokers know the clients."""
        return self.set_property("client.id", prefix)

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        """Read all partitions of these topics, which must exist."""
        if not topics or not all(isinstance(topic, str) and topic for topic in topics):
            raise ArgumentTypeError(f"set_topics takes names of topics, got {topics!r}")
        return self._subscribe(Subscription(topics=topics))

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """Read all topics whose whole name matches a regular expression, also those that are created later.

        Raises:
            ArgumentError: It is not a regular expression.
        """
        try:
            compiled(topic_pattern)
        except EvaluationError as error:
            raise ArgumentError(f"topic pattern {topic_pattern!r}: {error}") from None
        return self._subscribe(Subscription(pattern=topic_pattern))

    def set_partitions(self, partitions: Iterable[KafkaTopicPartition]) -> KafkaSourceBuilder:
        """Read these partitions, which must exist."""
        wanted = tuple(partitions)
        if not wanted or not all(isinstance(partition, KafkaTopicPartition) for partition in wanted):
            raise ArgumentTypeError(f"set_partitions takes KafkaTopicPartitions, got {partitions!r}")
        return self._subscribe(Subscription(partitions=wanted))

    def _subscribe(self, subscription: Subscription) -> KafkaSourceBuilder:
        if self._subscription is not None:
            raise ArgumentError(
                "a KafkaSource reads either topics, a topic pattern or partitions, and one of them is set already"
            )
        self._subscription = subscription
        return self

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Set where reading starts, unless the job resumes from a checkpoint or savepoint; by default, the earliest."""
        self._start = _initializer(starting_offsets_initializer, "set_starting_offsets")
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Stop at offsets found when the job starts; the source is bounded, and can be read in BATCH."""
        return self._end(stopping_offsets_initializer, "set_bounded", True)

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Stop at offsets found when the job starts, but count as unbounded, so that the job runs in STREAMING."""
        return self._end(stopping_offsets_initializer, "set_unbounded", False)

    def _end(self, initializer: KafkaOffsetsInitializer, method: str, bounded: bool) -> KafkaSourceBuilder:
        self._stop = _initializer(initializer, method)
        self._bounded = bounded
        if not initializer.can_stop:
            raise ArgumentError(f"{method} takes an end: latest, timestamp, offsets or committed_offsets, not earliest")
        return self

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema) -> KafkaSourceBuilder:
        """Set the schema that reads values; keys, headers and messages without a value are ignored."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise ArgumentTypeError(
                f"set_value_only_deserializer takes a DeserializationSchema, got {deserialization_schema!r}"
            )
        self._decoder = ValueDecoder(deserialization_schema)
        return self

    def set_deserializer(self, record_deserializer: KafkaRecordDeserializationSchema) -> KafkaSourceBuilder:
        """Set the schema that reads key, value, headers, timestamp and position; Java's method of that name."""
        if not isinstance(record_deserializer, KafkaRecordDeserializationSchema):
            raise ArgumentTypeError(
                f"set_deserializer takes a KafkaRecordDeserializationSchema, got {record_deserializer!r}"
            )
        self._decoder = RecordDecoder(record_deserializer)
        return self

    def drop_malformed_records(self) -> KafkaSourceBuilder:
        """Skip messages that the deserializer fails on, instead of failing. scurry's own.

        The metric `numMalformedRecordsDropped` counts them, and the job's summary names them. To keep them, call
        `with_dead_letters` on the stream instead.
        """
        self._drop_malformed = True
        return self

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """Set a property of the consumer, or an option of the source (docs/connectors/kafka.md)."""
        self._properties[key] = value
        return self

    def set_properties(self, props: Mapping[str, str]) -> KafkaSourceBuilder:
        """Set several properties."""
        self._properties.update(props)
        return self

    def build(self) -> KafkaSource:
        """Return the source.

        Raises:
            ArgumentError: Servers, topics or deserializer are missing, or librdkafka refuses a property.
            ExtraMissingError: librdkafka is not installed.
            UnsupportedError: A property that only Java's clients support.
        """
        properties = ClientProperties(self._properties)
        if self._subscription is None:
            raise ArgumentError("nothing to read: call set_topics, set_topic_pattern or set_partitions")
        if self._decoder is None:
            raise ArgumentError("no deserializer: call set_value_only_deserializer, e.g. with SimpleStringSchema()")
        group = properties.text("group.id") or None
        if group is None and (self._start.needs_group or (self._stop is not None and self._stop.needs_group)):
            raise ArgumentError("committed_offsets are those of a consumer group: call set_group_id")
        _check_reset(properties)
        check(properties)
        return KafkaSource(
            KafkaTopics(properties, self._subscription, self._start, self._stop, group),
            self._decoder,
            self._bounded,
            self._drop_malformed,
        )


def _initializer(initializer: Any, method: str) -> KafkaOffsetsInitializer:
    if not isinstance(initializer, KafkaOffsetsInitializer):
        raise ArgumentTypeError(f"{method} takes a KafkaOffsetsInitializer, got {initializer!r}")
    return initializer


def _check_reset(properties: ClientProperties) -> None:
    for number in ("default.api.timeout.ms", "partition.discovery.interval.ms", "scurry.channels"):
        properties.integer(number, 0)
    reset = properties.text("auto.offset.reset", "error")
    if reset not in ("earliest", "latest", "none", "error"):
        raise ArgumentError(f"auto.offset.reset is earliest, latest or none, got {reset!r}")


@made_by("builder")
class KafkaSink(ApiObject, _KafkaSink):
    """Write records to topics, with the delivery guarantee that is set."""

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Return a builder; bootstrap servers and a record serializer must be set."""
        return KafkaSinkBuilder()


class KafkaSinkBuilder(ApiObject):
    """Builder of a KafkaSink."""

    def __init__(self) -> None:
        """Begin with the delivery guarantee NONE."""
        self._properties: dict[str, Any] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix = "kafka-sink"
        self._serializer: KafkaRecordSerializationSchema | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        """Set the brokers to ask first: `host:port`, separated by commas."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """Set the guarantee when a failed job resumes; NONE is the same as AT_LEAST_ONCE here."""
        if not isinstance(delivery_guarantee, DeliveryGuarantee):
            raise ArgumentTypeError(f"set_delivery_guarantee takes a DeliveryGuarantee, got {delivery_guarantee!r}")
        self._guarantee = delivery_guarantee
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """Set the prefix of transactional ids; the identities of job and sink are appended, so ids are unique."""
        if not transactional_id_prefix or len(transactional_id_prefix.encode()) > 6400:
            raise ArgumentError("the transactional id prefix must have 1 to 6400 bytes")
        self._prefix = transactional_id_prefix
        return self

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema) -> KafkaSinkBuilder:
        """Set the schema that converts records to messages."""
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            raise ArgumentTypeError(
                f"set_record_serializer takes a KafkaRecordSerializationSchema, got {record_serializer!r}; "
                "make one with KafkaRecordSerializationSchema.builder()"
            )
        self._serializer = record_serializer
        return self

    def set_property(self, key: str, value: str) -> KafkaSinkBuilder:
        """Set a property of the producer."""
        self._properties[key] = value
        return self

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
        if self._serializer is None:
            raise ArgumentError("no record serializer: call set_record_serializer")
        check(properties)
        exactly_once = self._guarantee is DeliveryGuarantee.EXACTLY_ONCE
        return KafkaSink(properties, self._serializer, exactly_once, self._prefix)


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
