"""Streams in topics of Kafka clusters that come and go while the job runs: DynamicKafkaSource, and its builder."""

from __future__ import annotations

from collections.abc import Set
from typing import Self

from scurry.common._api import ApiObject, made_by
from scurry.connectors.kafka.dynamic.metadata import (
    ClusterMetadata,
    FileMetadataService,
    KafkaMetadataService,
    KafkaStream,
    KafkaStreamSetSubscriber,
    KafkaStreamSubscriber,
    SingleClusterTopicMetadataService,
    StreamPatternSubscriber,
)
from scurry.connectors.kafka.dynamic.topics import dynamic_topics
from scurry.connectors.kafka.records import KafkaRecordDeserializationSchema
from scurry.connectors.messages import MessageSource
from scurry.datastream.connectors._topics import RecordsSourceBuilder
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "ClusterMetadata",
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "FileMetadataService",
    "KafkaMetadataService",
    "KafkaRecordDeserializationSchema",
    "KafkaStream",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "SingleClusterTopicMetadataService",
    "StreamPatternSubscriber",
]


@made_by("builder")
class DynamicKafkaSource(ApiObject, MessageSource):
    """Read streams exactly once, while a metadata service moves them between clusters and topics."""

    @staticmethod
    def builder() -> DynamicKafkaSourceBuilder:
        """Return a builder; a metadata service, streams and a deserializer must be set."""
        return DynamicKafkaSourceBuilder()


class DynamicKafkaSourceBuilder(RecordsSourceBuilder):
    """Builder of a DynamicKafkaSource."""

    def __init__(self) -> None:
        """Begin with an unbounded source that reads from the earliest offsets."""
        super().__init__()
        self._service: KafkaMetadataService | None = None
        self._subscriber: KafkaStreamSubscriber | None = None

    def set_kafka_metadata_service(self, kafka_metadata_service: KafkaMetadataService) -> Self:
        """Set the service that says in which clusters and topics streams lie."""
        if not isinstance(kafka_metadata_service, KafkaMetadataService):
            raise ArgumentTypeError(
                f"set_kafka_metadata_service takes a KafkaMetadataService, got {kafka_metadata_service!r}"
            )
        self._service = kafka_metadata_service
        return self

    def set_stream_ids(self, stream_ids: Set[str]) -> Self:
        """Read the streams of these ids, which must be there when the job starts."""
        return self.set_kafka_stream_subscriber(KafkaStreamSetSubscriber(stream_ids))

    def set_stream_pattern(self, stream_pattern: str) -> Self:
        """Read all streams whose whole id matches a regular expression, also those that come later.

        Raises:
            ArgumentError: It is not a regular expression.
        """
        return self.set_kafka_stream_subscriber(StreamPatternSubscriber(stream_pattern))

    def set_kafka_stream_subscriber(self, kafka_stream_subscriber: KafkaStreamSubscriber) -> Self:
        """Read the streams that a subscriber chooses."""
        if not isinstance(kafka_stream_subscriber, KafkaStreamSubscriber):
            raise ArgumentTypeError(
                f"set_kafka_stream_subscriber takes a KafkaStreamSubscriber, got {kafka_stream_subscriber!r}"
            )
        if self._subscriber is not None:
            raise ArgumentError(
                "a DynamicKafkaSource reads either stream ids, a stream pattern or what a subscriber chooses, and one "
                "of them is set already"
            )
        self._subscriber = kafka_stream_subscriber
        return self

    def set_deserializer(self, deserializer: KafkaRecordDeserializationSchema) -> Self:
        """Set the schema that reads key, value, headers, timestamp and position."""
        return self._decode_records(deserializer)

    def build(self) -> DynamicKafkaSource:
        """Return the source.

        Raises:
            ArgumentError: Service, streams or deserializer are missing, or librdkafka refuses a property.
            ExtraMissingError: librdkafka is not installed.
            UnsupportedError: A property that only Java's clients support.
        """
        if self._service is None:
            raise ArgumentError("no metadata service: call set_kafka_metadata_service")
        if self._subscriber is None:
            raise ArgumentError("nothing to read: call set_stream_ids or set_stream_pattern")
        group = str(self._properties.get("group.id", "")) or None
        decoder = self._checked_decoder(group)
        scan = dynamic_topics(self._service, self._subscriber, self._properties, self._start, self._stop, group)
        return DynamicKafkaSource(scan, decoder, self._bounded, self._drop_malformed)
