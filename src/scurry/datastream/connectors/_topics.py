"""Builders of sources and sinks of topics: the common part of those of Kafka and of logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from scurry.common._api import ApiObject
from scurry.common._java_regex.patterns import compiled
from scurry.common.serialization import DeserializationSchema
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, KafkaTopicPartition, Subscription
from scurry.connectors.kafka.records import KafkaRecordDeserializationSchema, ValueOnly
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.connectors.messages import Decoder, RecordDecoder, ValueDecoder
from scurry.datastream.connectors.base import DeliveryGuarantee, checked_guarantee
from scurry.errors import ArgumentError, ArgumentTypeError, EvaluationError


class RecordsSourceBuilder(ApiObject):
    """The common part of builders of sources that read partitions by offsets, however those are found."""

    def __init__(self) -> None:
        """Begin with an unbounded source that reads from the earliest offsets."""
        self._properties: dict[str, Any] = {}
        self._decoder: Decoder | None = None
        self._start = KafkaOffsetsInitializer.earliest()
        self._stop: KafkaOffsetsInitializer | None = None
        self._bounded = False
        self._drop_malformed = False

    def set_group_id(self, group_id: str) -> Self:
        """Set the consumer group, whose offsets are committed with each micro-batch for monitoring."""
        return self.set_property("group.id", group_id)

    def set_client_id_prefix(self, prefix: str) -> Self:
        """Set the name by which brokers know the clients."""
        return self.set_property("client.id", prefix)

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Set where reading starts, unless the job resumes from a checkpoint or savepoint; by default, the earliest."""
        self._start = _initializer(starting_offsets_initializer, "set_starting_offsets")
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Stop at offsets found when the job starts; the source is bounded, and can be read in BATCH."""
        return self._end(stopping_offsets_initializer, "set_bounded", True)

    def _end(self, initializer: KafkaOffsetsInitializer, method: str, bounded: bool) -> Self:
        self._stop = _initializer(initializer, method)
        self._bounded = bounded
        if not initializer.can_stop:
            raise ArgumentError(f"{method} takes an end: latest, timestamp, offsets or committed_offsets, not earliest")
        return self

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema) -> Self:
        """Set the schema that reads values; keys, headers and messages without a value are ignored."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise ArgumentTypeError(
                f"set_value_only_deserializer takes a DeserializationSchema, got {deserialization_schema!r}"
            )
        self._decoder = ValueDecoder(deserialization_schema)
        return self

    def _decode_records(self, deserializer: KafkaRecordDeserializationSchema) -> Self:
        if not isinstance(deserializer, KafkaRecordDeserializationSchema):
            raise ArgumentTypeError(f"set_deserializer takes a KafkaRecordDeserializationSchema, got {deserializer!r}")
        values = deserializer.schema if isinstance(deserializer, ValueOnly) else None
        self._decoder = RecordDecoder(deserializer) if values is None else ValueDecoder(values)
        return self

    def drop_malformed_records(self) -> Self:
        """Skip messages that the deserializer fails on, instead of failing. scurry's own.

        The metric `numMalformedRecordsDropped` counts them, and the job's summary names them. To keep them, call
        `with_dead_letters` on the stream instead.
        """
        self._drop_malformed = True
        return self

    def set_property(self, key: str, value: str) -> Self:
        """Set a property of the consumer, or an option of the source (docs/connectors/kafka.md)."""
        self._properties[key] = value
        return self

    def set_properties(self, props: Mapping[str, str]) -> Self:
        """Set several properties."""
        self._properties.update(props)
        return self

    def _checked_decoder(self, group: str | None) -> Decoder:
        """Return the decoder, which must be set, as must be the group if offsets of it are asked for."""
        if self._decoder is None:
            raise ArgumentError("no deserializer: call set_value_only_deserializer, e.g. with SimpleStringSchema()")
        if group is None and (self._start.needs_group or (self._stop is not None and self._stop.needs_group)):
            raise ArgumentError("committed_offsets are those of a consumer group: call set_group_id")
        return self._decoder


class TopicsSourceBuilder(RecordsSourceBuilder):
    """The common part of builders of sources of topics."""

    def __init__(self) -> None:
        """Begin without topics."""
        super().__init__()
        self._subscription: Subscription | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> Self:
        """Set the brokers to ask first: `host:port`, separated by commas."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_topics(self, *topics: str) -> Self:
        """Read all partitions of these topics, which must exist."""
        if not topics or not all(isinstance(topic, str) and topic for topic in topics):
            raise ArgumentTypeError(f"set_topics takes names of topics, got {topics!r}")
        return self._subscribe(Subscription(topics=topics))

    def set_topic_pattern(self, topic_pattern: str) -> Self:
        """Read all topics whose whole name matches a regular expression, also those that are created later.

        Raises:
            ArgumentError: It is not a regular expression.
        """
        try:
            compiled(topic_pattern)
        except EvaluationError as error:
            raise ArgumentError(f"topic pattern {topic_pattern!r}: {error}") from None
        return self._subscribe(Subscription(pattern=topic_pattern))

    def set_partitions(self, partitions: Iterable[KafkaTopicPartition]) -> Self:
        """Read these partitions, which must exist."""
        wanted = tuple(partitions)
        if not wanted or not all(isinstance(partition, KafkaTopicPartition) for partition in wanted):
            raise ArgumentTypeError(f"set_partitions takes KafkaTopicPartitions, got {partitions!r}")
        return self._subscribe(Subscription(partitions=wanted))

    def _subscribe(self, subscription: Subscription) -> Self:
        if self._subscription is not None:
            raise ArgumentError(
                "a KafkaSource reads either topics, a topic pattern or partitions, and one of them is set already"
            )
        self._subscription = subscription
        return self

    def set_deserializer(self, record_deserializer: KafkaRecordDeserializationSchema) -> Self:
        """Set the schema that reads key, value, headers, timestamp and position; Java's method of that name."""
        return self._decode_records(record_deserializer)

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Stop at offsets found when the job starts, but count as unbounded, so that the job runs in STREAMING."""
        return self._end(stopping_offsets_initializer, "set_unbounded", False)

    def _checked(self, group: str | None) -> tuple[Subscription, Decoder]:
        """Return the partitions to read and the decoder, which must be set."""
        if self._subscription is None:
            raise ArgumentError("nothing to read: call set_topics, set_topic_pattern or set_partitions")
        return self._subscription, self._checked_decoder(group)


def _initializer(initializer: Any, method: str) -> KafkaOffsetsInitializer:
    if not isinstance(initializer, KafkaOffsetsInitializer):
        raise ArgumentTypeError(f"{method} takes a KafkaOffsetsInitializer, got {initializer!r}")
    return initializer


class TopicsSinkBuilder(ApiObject):
    """The common part of builders of sinks of topics."""

    def __init__(self) -> None:
        """Begin with the delivery guarantee NONE."""
        self._properties: dict[str, Any] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix = "kafka-sink"
        self._serializer: KafkaRecordSerializationSchema | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> Self:
        """Set the brokers to ask first: `host:port`, separated by commas."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set the guarantee when a failed job resumes; NONE is the same as AT_LEAST_ONCE here."""
        self._guarantee = checked_guarantee(delivery_guarantee)
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> Self:
        """Set the prefix of transactional ids; the identities of job and sink are appended, so ids are unique."""
        if not transactional_id_prefix or len(transactional_id_prefix.encode()) > 6400:
            raise ArgumentError("the transactional id prefix must have 1 to 6400 bytes")
        self._prefix = transactional_id_prefix
        return self

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema) -> Self:
        """Set the schema that converts records to messages."""
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            raise ArgumentTypeError(
                f"set_record_serializer takes a KafkaRecordSerializationSchema, got {record_serializer!r}; "
                "make one with KafkaRecordSerializationSchema.builder()"
            )
        self._serializer = record_serializer
        return self

    def set_property(self, key: str, value: str) -> Self:
        """Set a property of the producer."""
        self._properties[key] = value
        return self

    def _checked_serializer(self) -> KafkaRecordSerializationSchema:
        if self._serializer is None:
            raise ArgumentError("no record serializer: call set_record_serializer")
        return self._serializer
