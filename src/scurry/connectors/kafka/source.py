"""KafkaSource: reads the records of topics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.kafka.cluster import Cluster
from scurry.connectors.kafka.enumerator import EnumeratorSettings, KafkaEnumerator, OffsetRange
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, Subscription
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.reader import READERS, PartitionReader
from scurry.connectors.kafka.records import Block, Decoder
from scurry.connectors.source import (
    BatchLimits,
    Chunk,
    ChunkSizer,
    Enumerator,
    MalformedRecords,
    Source,
    sliced_with_timestamps,
)

#: Flink's default of partition.discovery.interval.ms.
DISCOVERY_MS = 300_000
#: Largest number of channels; if there are more partitions, several share a channel and its watermark.
MAX_CHANNELS = 256


@dataclass(frozen=True)
class KafkaSource(Source):
    """Read partitions of topics: for each micro-batch the driver assigns ranges of offsets, which the tasks fetch.

    The ranges are part of the checkpoint, so a repeated batch reads the same records. Every partition is a channel with
    its own watermark, like Flink's splits.

    Attributes:
        properties: The clients' properties.
        subscription: The partitions to read.
        decoder: Converts messages to records.
        start: The first offsets; a job that resumes from a checkpoint or savepoint starts from the stored ones instead.
        stop: The end offsets; None to read indefinitely.
        bounded: Whether the source is bounded when it has end offsets.
        group: Consumer group whose committed offsets show the job's progress.
        drop_malformed: Whether malformed messages are skipped instead of failing the job.
    """

    properties: ClientProperties
    subscription: Subscription
    decoder: Decoder
    start: KafkaOffsetsInitializer
    stop: KafkaOffsetsInitializer | None = None
    bounded: bool = False
    group: str | None = None
    drop_malformed: bool = False

    @property
    def meets_malformed_records(self) -> bool:
        """True: reading continues behind a malformed message."""
        return True

    @property
    def produced_type(self) -> TypeInformation:
        """The deserializer's type."""
        return self.decoder.produced_type

    @cached_property
    def _partitions(self) -> int:
        cluster = Cluster(self.properties, self.group)
        try:
            return len(self.subscription.found(cluster.topics(), cluster.servers))
        finally:
            cluster.close()

    def channels(self, parallelism: int) -> int:
        """Return the property `scurry.channels` if it is set, else the current number of partitions, up to a maximum.

        Raises:
            SourceConnectionError: The cluster does not answer.
            SourceNotFoundError: It has no such topic.
        """
        return self.properties.integer("scurry.channels", 0) or min(max(1, self._partitions), MAX_CHANNELS)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that discovers partitions with its first batch."""
        properties = self.properties
        every = properties.integer("partition.discovery.interval.ms", DISCOVERY_MS)
        settings = EnumeratorSettings(
            channels=self.channels(parallelism),
            limits=limits,
            discovery_seconds=every / 1000 if every > 0 and self.stop is None else None,
            patience_seconds=properties.patience_seconds,
            commits=self.group is not None and properties.flag("commit.offsets.on.checkpoint", True),
        )
        return KafkaEnumerator(Cluster(properties, self.group), self.subscription, self.start, self.stop, settings)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of the assigned ranges; partitions that share a channel take turns."""
        return sliced_with_timestamps(self._in_turns(work), sizer)

    def _in_turns(self, work: list[OffsetRange]) -> Iterator[Block]:
        ranges = [self._blocks(*each) for each in work]
        while ranges:
            for each in list(ranges):
                block = next(each, None)
                if block is None:
                    ranges.remove(each)
                else:
                    yield block

    def _blocks(self, topic: str, partition: int, start: int, end: int) -> Iterator[Block]:
        convert = self.decoder.produced_type.block_converter()
        key = (self.properties, topic, partition)
        reader = READERS.take(key, lambda: PartitionReader(self.properties, topic, partition))
        fit = False
        try:
            for messages in reader.read(start, end):
                for block in self.decoder.decode(messages):
                    if isinstance(block, MalformedRecords):
                        yield replace(block, dropped=self.drop_malformed)
                    else:
                        values, times = block
                        yield (values if convert is None else convert(values)), times
            fit = True
        finally:
            if fit:
                READERS.give(key, reader)
            else:
                reader.close()
