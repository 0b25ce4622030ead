"""KafkaTableSource: reads the messages of topics as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scurry.connectors.kafka.cluster import Cluster
from scurry.connectors.kafka.enumerator import EnumeratorSettings, KafkaEnumerator
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, Subscription
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.reader import READERS, PartitionReader
from scurry.connectors.kafka.source import DISCOVERY_MS
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.connectors.kafka.rows import MessageRows


@dataclass(frozen=True)
class KafkaTableSource(TableSource):
    """Read partitions of topics, each from an offset to an offset.

    Attributes:
        properties: The clients' properties.
        subscription: The partitions.
        start: Where reading begins.
        stop: Where it ends; None if it does not.
        group: The consumer group.
        rows: Makes rows of messages.
        insert_only: Whether rows are only added.
        parallelism: Number of readers of a STREAMING job; None for the job's parallelism.
        upserts: Whether a message replaces the one with its key.
    """

    properties: ClientProperties
    subscription: Subscription
    start: KafkaOffsetsInitializer
    stop: KafkaOffsetsInitializer | None
    group: str | None
    rows: MessageRows
    insert_only: bool = True
    parallelism: int | None = None
    upserts: bool = False
    generates_watermarks = True

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether reading ends: the topic is read up to an offset or time."""
        return self.stop is not None

    def splits(self) -> list[Any]:
        """Return the ranges of offsets to read, one per partition; without an end, up to the present one.

        Raises:
            SourceConnectionError: The cluster does not answer.
            SourceNotFoundError: A topic does not exist.
        """
        cluster = Cluster(self.properties, self.group)
        try:
            partitions = self.subscription.found(cluster.topics(), cluster.servers)
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

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a range with their kinds."""
        topic, partition, start, end = split
        convert = self.rows.reader(columns)
        key = (self.properties, topic, partition)
        reader = READERS.take(key, lambda: PartitionReader(self.properties, topic, partition))
        finished = False
        try:
            for messages in reader.read(start, end):
                yield convert(messages)
            finished = True
        finally:
            if finished:
                READERS.give(key, reader)
            else:
                reader.close()

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the enumerator that streams have: offsets are in the checkpoints, new partitions are discovered."""
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
