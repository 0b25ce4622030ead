"""Streams that lie in topics of clusters, and the services that say where they lie."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._java_regex.patterns import compiled
from scurry.common.pickling import of_functions
from scurry.connectors.kafka.cluster import Cluster
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer
from scurry.connectors.kafka.properties import ClientProperties
from scurry.errors import ArgumentError, ArgumentTypeError, EvaluationError, ExtraMissingError, SourceNotFoundError
from scurry.errors.suggestions import did_you_mean


@dataclass(frozen=True)
class ClusterMetadata:
    """The topics of a stream in a cluster: Flink's `ClusterMetadata`.

    Attributes:
        topics: Names of topics.
        properties: Properties of this cluster's clients, `bootstrap.servers` among them; they precede the source's.
        starting_offsets_initializer: Start of the cluster's partitions, if not the source's.
        stopping_offsets_initializer: Their end in a bounded source, if not the source's.
    """

    topics: frozenset[str]
    properties: Mapping[str, str] = field(repr=False)
    starting_offsets_initializer: KafkaOffsetsInitializer | None = None
    stopping_offsets_initializer: KafkaOffsetsInitializer | None = None

    def __post_init__(self) -> None:
        """Copy topics and properties, whatever collections they are.

        Raises:
            ArgumentTypeError: The topics are no collection of names.
            ArgumentError: There are no bootstrap servers.
        """
        if isinstance(self.topics, str) or not all(isinstance(topic, str) and topic for topic in self.topics):
            raise ArgumentTypeError(f"topics of a cluster are a collection of names, got {self.topics!r}")
        object.__setattr__(self, "topics", frozenset(self.topics))
        object.__setattr__(self, "properties", {name: str(value) for name, value in self.properties.items()})
        if not self.properties.get("bootstrap.servers"):
            raise ArgumentError("properties of a cluster need 'bootstrap.servers': 'host:port,...'")


@dataclass(frozen=True)
class KafkaStream:
    """A stream of records in topics of one or more clusters: Flink's `KafkaStream`.

    Attributes:
        stream_id: The name of the stream.
        cluster_metadata_map: Cluster id -> the topics of the stream there.
    """

    stream_id: str
    cluster_metadata_map: Mapping[str, ClusterMetadata]


@of_functions
class KafkaMetadataService(ABC):
    """Say in which clusters and topics streams lie: Flink's `KafkaMetadataService`; picklable.

    The driver asks when the job starts, and every `stream-metadata-discovery-interval-ms`. Tasks ask only for
    properties of clusters that are secrets, because those are not part of checkpoints.
    """

    @abstractmethod
    def get_all_streams(self) -> Collection[KafkaStream]:
        """Return all streams."""

    def describe_streams(self, stream_ids: Collection[str]) -> Mapping[str, KafkaStream]:
        """Return the streams of these ids that there are, by id."""
        return {stream.stream_id: stream for stream in self.get_all_streams() if stream.stream_id in stream_ids}

    def is_cluster_active(self, kafka_cluster_id: str) -> bool:
        """Return whether a stream lies in a cluster."""
        return any(kafka_cluster_id in stream.cluster_metadata_map for stream in self.get_all_streams())

    def close(self) -> None:
        """Release resources; called when the job ends."""
        return


class SingleClusterTopicMetadataService(KafkaMetadataService):
    """Streams that are the topics of one cluster: the id of a stream is the name of its topic."""

    def __init__(self, kafka_cluster_id: str, properties: Mapping[str, str]) -> None:
        """Refer to a cluster, without connecting.

        Args:
            kafka_cluster_id: The name that the cluster has in checkpoints and in the metadata `kafka_cluster`.
            properties: Properties of its clients, `bootstrap.servers` among them.

        Raises:
            ArgumentError: There are no bootstrap servers.
        """
        if not isinstance(kafka_cluster_id, str) or not kafka_cluster_id:
            raise ArgumentTypeError(f"kafka_cluster_id is a name, got {kafka_cluster_id!r}")
        self._cluster = kafka_cluster_id
        self._properties = ClusterMetadata(frozenset(), properties).properties

    def get_all_streams(self) -> Collection[KafkaStream]:
        """Return a stream for each topic but those of Kafka itself."""
        cluster = Cluster(ClientProperties(self._properties), None)
        try:
            names = [topic for topic in cluster.topics() if not topic.startswith("__")]
        finally:
            cluster.close()
        return list(self.describe_streams(names).values())

    def describe_streams(self, stream_ids: Collection[str]) -> Mapping[str, KafkaStream]:
        """Return a stream for each id; a topic that is missing is reported when it is read."""
        return {
            each: KafkaStream(each, {self._cluster: ClusterMetadata(frozenset({each}), self._properties)})
            for each in stream_ids
        }

    def is_cluster_active(self, kafka_cluster_id: str) -> bool:
        """Return whether it is the cluster."""
        return kafka_cluster_id == self._cluster


class FileMetadataService(KafkaMetadataService):
    """Streams that a file of JSON or YAML lists, which may be replaced while the job runs. scurry's own.

    The file is a list of streams, as Flink's tests have them:

        [{"streamId": "orders", "clusterMetadataList": [
            {"clusterId": "east", "bootstrapServers": "east:9092", "topics": ["orders"]}]}]

    A cluster may have `properties`, too; without `clusterId`, its bootstrap servers are its id.
    """

    def __init__(self, path: str | Path, properties: Mapping[str, str] | None = None) -> None:
        """Refer to a file, which is read with each discovery.

        Args:
            path: A file of YAML if it ends in `.yaml` or `.yml`, else of JSON.
            properties: Further properties of the clients of all its clusters.
        """
        self._path = str(path)
        self._properties = {name: str(value) for name, value in (properties or {}).items()}

    def get_all_streams(self) -> Collection[KafkaStream]:
        """Return the streams that the file has now.

        Raises:
            SourceNotFoundError: There is no such file.
            ArgumentError: It is not such a list.
        """
        try:
            return [self._stream(each) for each in self._read()]
        except (KeyError, TypeError, AttributeError) as error:
            raise ArgumentError(
                f"metadata file {self._path}: expected a list of streams with streamId and clusterMetadataList, whose "
                f"entries have bootstrapServers and topics, got {type(error).__name__}: {error}"
            ) from None

    def _read(self) -> Any:
        try:
            text = Path(self._path).read_text(encoding="utf-8")
        except OSError as error:
            raise SourceNotFoundError(f"metadata file {self._path} cannot be read: {error.strerror}") from None
        try:
            return _parsed_yaml(text) if self._path.endswith((".yaml", ".yml")) else json.loads(text)
        except ValueError as error:
            raise ArgumentError(f"metadata file {self._path}: {error}") from None

    def _stream(self, entry: Mapping[str, Any]) -> KafkaStream:
        clusters = {}
        for cluster in entry["clusterMetadataList"]:
            servers = str(cluster["bootstrapServers"])
            properties = {**self._properties, **cluster.get("properties", {}), "bootstrap.servers": servers}
            topics = frozenset(map(str, cluster["topics"]))
            clusters[str(cluster.get("clusterId") or servers)] = ClusterMetadata(topics, properties)
        return KafkaStream(str(entry["streamId"]), clusters)


def _parsed_yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise ExtraMissingError("metadata files of YAML need the package pyyaml: pip install pyyaml") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


@of_functions
class KafkaStreamSubscriber(ABC):
    """Choose streams of a metadata service: Flink's `KafkaStreamSubscriber`; picklable."""

    @abstractmethod
    def get_subscribed_streams(self, kafka_metadata_service: KafkaMetadataService) -> Collection[KafkaStream]:
        """Return the streams to read now."""


class KafkaStreamSetSubscriber(KafkaStreamSubscriber):
    """Choose streams by their ids."""

    def __init__(self, stream_ids: Collection[str]) -> None:
        """Choose these ids.

        Raises:
            ArgumentTypeError: They are no collection of names, or empty.
        """
        wrong = isinstance(stream_ids, str) or not all(isinstance(each, str) and each for each in stream_ids)
        if wrong or not stream_ids:
            raise ArgumentTypeError(f"stream_ids are a set of names, got {stream_ids!r}")
        self.stream_ids = tuple(sorted(set(stream_ids)))

    def get_subscribed_streams(self, kafka_metadata_service: KafkaMetadataService) -> Collection[KafkaStream]:
        """Return the streams of the ids that there are."""
        return list(kafka_metadata_service.describe_streams(self.stream_ids).values())

    def check(self, found: Collection[KafkaStream], service: KafkaMetadataService) -> None:
        """Check that there are streams of all ids.

        Raises:
            SourceNotFoundError: The metadata service does not know one.
        """
        there = {stream.stream_id for stream in found}
        for each in self.stream_ids:
            if each not in there:
                close = did_you_mean(each, [stream.stream_id for stream in service.get_all_streams()])
                raise SourceNotFoundError(f"the metadata service has no stream {each!r}").with_hint(
                    close or "add it to the service, or subscribe by set_stream_pattern to wait for it"
                )


class StreamPatternSubscriber(KafkaStreamSubscriber):
    """Choose all streams whose whole id matches a regular expression, also those that come later."""

    def __init__(self, stream_pattern: str) -> None:
        """Choose by a regular expression of Java.

        Raises:
            ArgumentError: It is not a regular expression.
        """
        try:
            compiled(stream_pattern)
        except EvaluationError as error:
            raise ArgumentError(f"stream pattern {stream_pattern!r}: {error}") from None
        self.stream_pattern = stream_pattern

    def get_subscribed_streams(self, kafka_metadata_service: KafkaMetadataService) -> Collection[KafkaStream]:
        """Return the streams that match."""
        matches = compiled(self.stream_pattern).fullmatch
        return [stream for stream in kafka_metadata_service.get_all_streams() if matches(stream.stream_id)]
