"""KafkaTopics: the messages of topics, for streams and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from scurry.connectors.kafka.cluster import Cluster
from scurry.connectors.kafka.enumerator import EnumeratorSettings, KafkaEnumerator, OffsetRange
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, KafkaTopicPartition, Subscription
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.reader import READERS, PartitionReader
from scurry.connectors.kafka.records import KafkaMessages
from scurry.connectors.messages import MessageScan, MessageSystem
from scurry.connectors.source import BatchLimits, Enumerator

#: Flink's default of partition.discovery.interval.ms.
DISCOVERY_MS = 300_000
#: Largest number of channels; if there are more partitions, several share a channel and its watermark.
MAX_CHANNELS = 256


@dataclass(frozen=True)
class KafkaTopics(MessageScan):
    """Partitions of topics, each read from an offset to an offset.

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

    @property
    def ends(self) -> bool:
        """Return whether there are end offsets."""
        return self.stop is not None

    def _found(self, cluster: Cluster) -> list[KafkaTopicPartition]:
        return self.subscription.found(cluster.topics(), cluster.servers)

    @cached_property
    def _partitions(self) -> int:
        cluster = Cluster(self.properties, self.group)
        try:
            return len(self._found(cluster))
        finally:
            cluster.close()

    def channels(self, parallelism: int) -> int:
        """Return the property `scurry.channels` if it is set, else the current number of partitions, up to a maximum.

        Raises:
            SourceConnectionError: The cluster does not answer.
            SourceNotFoundError: It has no such topic.
        """
        return self.properties.integer("scurry.channels", 0) or min(max(1, self._partitions), MAX_CHANNELS)

    def parts(self) -> list[Any]:
        """Return the ranges of offsets, one per partition; without an end, up to the present one.

        Raises:
            SourceConnectionError: The cluster does not answer.
            SourceNotFoundError: A topic does not exist.
        """
        cluster = Cluster(self.properties, self.group)
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

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that discovers partitions with its first batch; checkpoints have its offsets."""
        properties = self.properties
        every = properties.integer("partition.discovery.interval.ms", DISCOVERY_MS)
        settings = EnumeratorSettings(
            channels=channels,
            limits=limits,
            discovery_seconds=every / 1000 if every > 0 and self.stop is None else None,
            patience_seconds=properties.patience_seconds,
            commits=self.group is not None and properties.flag("commit.offsets.on.checkpoint", True),
        )
        return KafkaEnumerator(Cluster(properties, self.group), self.subscription, self.start, self.stop, settings)

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
