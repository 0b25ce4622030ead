"""KafkaTopics: the messages of topics, for streams and tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.client import check
from scurry.connectors.kafka.cluster import Cluster
from scurry.connectors.kafka.enumerator import EnumeratorSettings, KafkaCluster, KafkaEnumerator, OffsetRange
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, KafkaTopicPartition, Subscription
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.reader import READERS, PartitionReader
from scurry.connectors.kafka.records import KafkaMessages
from scurry.connectors.messages import MessageScan, MessageSystem
from scurry.connectors.source import BatchLimits
from scurry.errors import ArgumentError

#: Flink's default of partition.discovery.interval.ms.
DISCOVERY_MS = 300_000
#: Largest number of channels; if there are more partitions, several share a channel and its watermark.
MAX_CHANNELS = 256


def check_reading(properties: ClientProperties) -> None:
    """Check the properties of a source, without connecting.

    Raises:
        ArgumentError: A property is unknown or has an invalid value.
    """
    for number in ("default.api.timeout.ms", "partition.discovery.interval.ms", "scurry.channels"):
        properties.integer(number, 0)
    reset = properties.text("auto.offset.reset", "error")
    if reset not in ("earliest", "latest", "none", "error"):
        raise ArgumentError(f"auto.offset.reset is earliest, latest or none, got {reset!r}")
    check(properties)


class PartitionedTopics(MessageScan):
    """Partitions of topics, each read from an offset to an offset.

    Attributes:
        subscription: The partitions to read.
        start: The first offsets; a job that resumes from a checkpoint or savepoint starts from the stored ones instead.
        stop: The end offsets; None to read indefinitely.
        group: Consumer group whose committed offsets show the job's progress.
    """

    subscription: Subscription
    start: KafkaOffsetsInitializer
    stop: KafkaOffsetsInitializer | None
    group: str | None

    @abstractmethod
    def cluster(self) -> KafkaCluster:
        """Return a connection of the driver."""

    @property
    @abstractmethod
    def fixed_channels(self) -> int:
        """Return the number of channels that is asked for; 0 for that of the partitions."""

    @property
    @abstractmethod
    def discovery_ms(self) -> int:
        """Return the milliseconds between looks for new partitions; 0 or less for never."""

    @property
    @abstractmethod
    def patience_seconds(self) -> float:
        """Return how long the cluster may be unavailable."""

    @property
    @abstractmethod
    def commits_offsets(self) -> bool:
        """Return whether the group's offsets are committed."""

    @property
    def ends(self) -> bool:
        """Return whether there are end offsets."""
        return self.stop is not None

    def _found(self, cluster: KafkaCluster) -> list[KafkaTopicPartition]:
        return self.subscription.found(cluster.topics(), cluster.servers)

    @cached_property
    def _partitions(self) -> int:
        cluster = self.cluster()
        try:
            return len(self._found(cluster))
        finally:
            cluster.close()

    def channels(self, parallelism: int) -> int:
        """Return the number of channels that is asked for, else the current number of partitions, up to a maximum.

        Raises:
            SourceConnectionError: The cluster does not answer.
            SourceNotFoundError: It has no such topic.
        """
        return self.fixed_channels or min(max(1, self._partitions), MAX_CHANNELS)

    def parts(self) -> list[Any]:
        """Return the ranges of offsets, one per partition; without an end, up to the present one.

        Raises:
            SourceConnectionError: The cluster does not answer.
            SourceNotFoundError: A topic does not exist.
        """
        cluster = self.cluster()
        try:
            partitions = self._found(cluster)
            if not partitions:
                return []
            starts = self.start.resolve(partitions, cluster)
            stops = cluster.latest(partitions) if self.stop is None else self.stop.stops(partitions, cluster)
            return [
                (*partition, starts[partition], stops[partition])
                for partition in partitions
                if stops.get(partition, -1) > starts[partition]
            ]
        finally:
            cluster.close()

    def create_enumerator(self, channels: int, limits: BatchLimits) -> KafkaEnumerator:
        """Return an enumerator that discovers partitions with its first batch; checkpoints have its offsets."""
        every = self.discovery_ms
        settings = EnumeratorSettings(
            channels=channels,
            limits=limits,
            discovery_seconds=every / 1000 if every > 0 and self.stop is None else None,
            patience_seconds=self.patience_seconds,
            commits=self.group is not None and self.commits_offsets,
        )
        return KafkaEnumerator(self.cluster(), self.subscription, self.start, self.stop, settings)


@dataclass(frozen=True)
class KafkaTopics(PartitionedTopics):
    """Partitions of topics of a cluster.

    Attributes:
        properties: The clients' properties.
        subscription: The partitions to read.
        start: The first offsets; a job that resumes from a checkpoint or savepoint starts from the stored ones instead.
        stop: The end offsets; None to read indefinitely.
        group: Consumer group whose committed offsets show the job's progress.
    """

    system: ClassVar[MessageSystem] = KafkaMessages()
    properties: ClientProperties
    subscription: Subscription
    start: KafkaOffsetsInitializer
    stop: KafkaOffsetsInitializer | None = None
    group: str | None = None

    def cluster(self) -> Cluster:
        """Return a connection to the cluster."""
        return Cluster(self.properties, self.group)

    @property
    def fixed_channels(self) -> int:
        """Return the property `scurry.channels`."""
        return self.properties.integer("scurry.channels", 0)

    @property
    def discovery_ms(self) -> int:
        """Return the property `partition.discovery.interval.ms`."""
        return self.properties.integer("partition.discovery.interval.ms", DISCOVERY_MS)

    @property
    def patience_seconds(self) -> float:
        """Return the property `default.api.timeout.ms`."""
        return self.properties.patience_seconds

    @property
    def commits_offsets(self) -> bool:
        """Return the property `commit.offsets.on.checkpoint`."""
        return self.properties.flag("commit.offsets.on.checkpoint", True)

    def messages(self, part: OffsetRange) -> Iterator[Sequence[Any]]:
        """Yield the messages of a range of offsets, with a consumer that the process keeps for the next range."""
        topic, partition, start, end = part
        key = (self.properties, topic, partition)
        reader = READERS.take(key, lambda: PartitionReader(self.properties, topic, partition))
        fit = False
        try:
            yield from reader.read(start, end)
            fit = True
        finally:
            if fit:
                READERS.give(key, reader)
            else:
                reader.close()
