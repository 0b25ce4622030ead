"""KafkaSource: reads the records of topics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.kafka.enumerator import OffsetRange
from scurry.connectors.kafka.records import Block, Decoder
from scurry.connectors.kafka.topics import KafkaTopics
from scurry.connectors.source import (
    BatchLimits,
    Chunk,
    ChunkSizer,
    Enumerator,
    MalformedRecords,
    Source,
    sliced_with_timestamps,
)

#: Largest number of channels; if there are more partitions, several share a channel and its watermark.
MAX_CHANNELS = 256


@dataclass(frozen=True)
class KafkaSource(Source):
    """Read partitions of topics: for each micro-batch the driver assigns ranges of offsets, which the tasks fetch.

    The ranges are part of the checkpoint, so a repeated batch reads the same records. Every partition is a channel with
    its own watermark, like Flink's splits.

    Attributes:
        topics: The messages to read.
        decoder: Converts messages to records.
        bounded: Whether the source is bounded when it has end offsets.
        drop_malformed: Whether malformed messages are skipped instead of failing the job.
    """

    topics: KafkaTopics
    decoder: Decoder
    bounded: bool = False
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
        return self.topics.partitions()

    def channels(self, parallelism: int) -> int:
        """Return the property `scurry.channels` if it is set, else the current number of partitions, up to a maximum.

        Raises:
            SourceConnectionError: The cluster does not answer.
            SourceNotFoundError: It has no such topic.
        """
        return self.topics.properties.integer("scurry.channels", 0) or min(max(1, self._partitions), MAX_CHANNELS)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that discovers partitions with its first batch."""
        return self.topics.create_enumerator(self.channels(parallelism), limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of the assigned ranges; partitions that share a channel take turns."""
        return sliced_with_timestamps(self._in_turns(work), sizer)

    def _in_turns(self, work: list[OffsetRange]) -> Iterator[Block]:
        ranges = list(map(self._blocks, work))
        while ranges:
            for each in list(ranges):
                block = next(each, None)
                if block is None:
                    ranges.remove(each)
                else:
                    yield block

    def _blocks(self, part: OffsetRange) -> Iterator[Block]:
        convert = self.decoder.produced_type.block_converter()
        for messages in self.topics.messages(part):
            for block in self.decoder.decode(messages):
                if isinstance(block, MalformedRecords):
                    yield replace(block, dropped=self.drop_malformed)
                else:
                    values, times = block
                    yield (values if convert is None else convert(values)), times
