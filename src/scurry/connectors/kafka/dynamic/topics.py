"""DynamicTopics: the messages of streams that lie in topics of several clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.dynamic.enumerator import DynamicKafkaEnumerator
from scurry.connectors.kafka.dynamic.metadata import (
    ClusterMetadata,
    KafkaMetadataService,
    KafkaStreamSetSubscriber,
    KafkaStreamSubscriber,
)
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, Subscription
from scurry.connectors.kafka.properties import ClientProperties, holds_secret
from scurry.connectors.kafka.records import KafkaMessages
from scurry.connectors.kafka.topics import MAX_CHANNELS, KafkaTopics, check_reading
from scurry.connectors.messages import MessageScan, MessageSystem
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.errors import ArgumentError, SourceConnectionError
from scurry.sql.types import MAX_LENGTH, DataType, VarCharType

#: Flink's properties of the discovery of metadata: milliseconds between questions, and how many in a row may fail.
DISCOVERY_INTERVAL = "stream-metadata-discovery-interval-ms"
FAILURE_THRESHOLD = "stream-metadata-discovery-failure-threshold"


class ClusterRange(NamedTuple):
    """A range of offsets to read. The assignment log keeps it, so it has no secrets.

    Attributes:
        cluster: The id of the cluster.
        topic: The topic.
        partition: The partition's number.
        start: The first offset.
        end: The offset after the last.
        properties: The cluster's own properties that are no secrets, in order.
        complete: Whether it has no others.
    """

    cluster: str
    topic: str
    partition: int
    start: int
    end: int
    properties: tuple[tuple[str, str], ...]
    complete: bool


class DynamicMessages(MessageSystem):
    """The messages of librdkafka, each with the id of its cluster before it."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        **KafkaMessages.metadata,
        "kafka_cluster": VarCharType(MAX_LENGTH).not_null(),
    }
    _of_kafka: ClassVar[KafkaMessages] = KafkaMessages()

    def key(self, message: Any) -> bytes | None:
        return self._of_kafka.key(message[1])

    def value(self, message: Any) -> bytes | None:
        return self._of_kafka.value(message[1])

    def timestamp(self, message: Any) -> int:
        """Return the time of creation or of appending, as the topic is configured."""
        return self._of_kafka.timestamp(message[1])

    def record(self, message: Any) -> Any:
        """Return the record with all that Kafka keeps of it."""
        return self._of_kafka.record(message[1])

    def read(self, key: str, message: Any) -> Any:
        return message[0] if key == "kafka_cluster" else self._of_kafka.read(key, message[1])

    def place(self, message: Any) -> str:
        """Return cluster, topic, partition and offset."""
        return f"cluster {message[0]!r}, {self._of_kafka.place(message[1])}"


@dataclass(frozen=True)
class DynamicTopics(MessageScan):
    """The messages of streams in the topics of clusters that a metadata service names.

    Attributes:
        service: Knows clusters and topics of streams.
        subscriber: Chooses the streams.
        properties: The properties of the clients of all clusters.
        start: The first offsets; a job that resumes from a checkpoint or savepoint starts from the stored ones instead.
        stop: The end offsets; None to read indefinitely.
        group: Consumer group whose committed offsets show the job's progress.
        discovery_ms: Milliseconds between questions to the service; 0 or less for one at the start.
        failure_threshold: How many such questions in a row may fail.
    """

    system: ClassVar[MessageSystem] = DynamicMessages()
    service: KafkaMetadataService
    subscriber: KafkaStreamSubscriber
    properties: Mapping[str, str] = field(repr=False)
    start: KafkaOffsetsInitializer
    stop: KafkaOffsetsInitializer | None = None
    group: str | None = None
    discovery_ms: int = -1
    failure_threshold: int = 1

    @property
    def ends(self) -> bool:
        """Return whether there are end offsets."""
        return self.stop is not None

    def clusters(self, first: bool = False) -> dict[str, ClusterMetadata]:
        """Ask the service for the clusters of the streams, each with the topics of all of them.

        Args:
            first: Whether a stream that is subscribed by name has to be there; later it may be removed.

        Raises:
            SourceNotFoundError: The service does not know such a stream.
            SourceConnectionError: The service fails.
        """
        try:
            streams = self.subscriber.get_subscribed_streams(self.service)
            if first and isinstance(self.subscriber, KafkaStreamSetSubscriber):
                self.subscriber.check(streams, self.service)
        except ArgumentError:
            raise
        except OSError:  # errors of sources among them, which say what is wrong
            raise
        except Exception as error:
            raise SourceConnectionError(
                f"{type(self.service).__name__} does not say where the streams are: {type(error).__name__}: {error}"
            ) from error
        found: dict[str, ClusterMetadata] = {}
        for stream in sorted(streams, key=lambda stream: stream.stream_id):
            for name, cluster in stream.cluster_metadata_map.items():
                before = found.get(name)
                topics = cluster.topics | before.topics if before is not None else cluster.topics
                found[name] = ClusterMetadata(
                    topics,
                    cluster.properties,
                    cluster.starting_offsets_initializer,
                    cluster.stopping_offsets_initializer,
                )
        return found

    def topics_of(self, cluster: ClusterMetadata) -> KafkaTopics:
        """Return the topics of a cluster as a source of their own."""
        stop = self.stop and (cluster.stopping_offsets_initializer or self.stop)
        return KafkaTopics(
            self._client(cluster.properties),
            Subscription(topics=tuple(sorted(cluster.topics)), otherwise="create it, or take it from the metadata"),
            cluster.starting_offsets_initializer or self.start,
            stop,
            self.group,
        )

    def _client(self, properties: Mapping[str, str]) -> ClientProperties:
        return ClientProperties({**self.properties, **properties})

    def channels(self, parallelism: int) -> int:
        """Return the property `scurry.channels`, else the present number of partitions, up to a maximum.

        Raises:
            SourceConnectionError: The service or a cluster does not answer.
            SourceNotFoundError: There is no such stream or topic.
        """
        return int(self.properties.get("scurry.channels", 0)) or min(max(1, self._partitions), MAX_CHANNELS)

    @cached_property
    def _partitions(self) -> int:
        return sum(self.topics_of(cluster).channels(1) for cluster in self.clusters(first=True).values())

    def parts(self) -> list[Any]:
        """Return the ranges of offsets, one per partition of each cluster; without an end, up to the present one.

        Raises:
            SourceConnectionError: The service or a cluster does not answer.
            SourceNotFoundError: There is no such stream or topic.
        """
        clusters = self.clusters(first=True)
        return [
            self.range_of(name, cluster, part)
            for name, cluster in clusters.items()
            for part in self.topics_of(cluster).parts()
        ]

    def range_of(self, name: str, cluster: ClusterMetadata, part: tuple[str, int, int, int]) -> ClusterRange:
        """Return a range of offsets of a cluster's topic, with the properties to read it but no secrets."""
        public = {key: value for key, value in cluster.properties.items() if not holds_secret(key, value)}
        complete = len(public) == len(cluster.properties)
        return ClusterRange(name, *part, tuple(sorted(public.items())), complete)

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that asks the service with its first batch; checkpoints have its offsets."""
        return DynamicKafkaEnumerator(self, channels, limits)

    def messages(self, part: ClusterRange) -> Iterator[Sequence[Any]]:
        """Yield the messages of a range with the cluster's id, by a consumer that the process keeps."""
        topics = KafkaTopics(self._client(self._properties(part)), Subscription(), self.start)
        for block in topics.messages((part.topic, part.partition, part.start, part.end)):
            yield [(part.cluster, message) for message in block]

    def _properties(self, part: ClusterRange) -> Mapping[str, str]:
        if part.complete:
            return dict(part.properties)
        known = self._asked
        key = (part.cluster, part.properties)
        if key not in known:
            found = self.clusters().get(part.cluster)
            secrets = {} if found is None else {k: v for k, v in found.properties.items() if holds_secret(k, v)}
            known[key] = {**dict(part.properties), **secrets}
        return known[key]

    @cached_property
    def _asked(self) -> dict[tuple[Any, ...], dict[str, str]]:
        """The properties of clusters with secrets, as far as this copy of the source has asked for them."""
        return {}


def dynamic_topics(
    service: KafkaMetadataService,
    subscriber: KafkaStreamSubscriber,
    given: Mapping[str, Any],
    start: KafkaOffsetsInitializer,
    stop: KafkaOffsetsInitializer | None,
    group: str | None,
) -> DynamicTopics:
    """Return the messages of streams, with properties that are checked without connecting.

    Args:
        service: Knows clusters and topics of streams.
        subscriber: Chooses the streams.
        given: Properties of clients, and the two of the discovery of metadata.
        start: The first offsets.
        stop: The end offsets; None to read indefinitely.
        group: The consumer group.

    Raises:
        ArgumentError: A property is unknown or has an invalid value.
        UnsupportedError: A property that only Java's clients support.
    """
    # No server is asked: clusters have their own.
    checked = ClientProperties({"bootstrap.servers": "none:1", **given})
    every, failures = checked.integer(DISCOVERY_INTERVAL, -1), checked.integer(FAILURE_THRESHOLD, 1)
    properties = {name: value for name, value in given.items() if name not in (DISCOVERY_INTERVAL, FAILURE_THRESHOLD)}
    check_reading(ClientProperties({"bootstrap.servers": "none:1", **properties}))
    return DynamicTopics(service, subscriber, properties, start, stop, group, every, failures)
