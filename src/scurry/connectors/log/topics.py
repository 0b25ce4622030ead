"""LogTopics: the messages of topics of a log, for streams and tables."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, ClassVar, cast

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.enumerator import OffsetRange
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, KafkaTopicPartition, Subscription
from scurry.connectors.kafka.records import ConsumerRecord
from scurry.connectors.kafka.topics import DISCOVERY_MS, PartitionedTopics
from scurry.connectors.log.blocks import Entry, encoded
from scurry.connectors.log.catalog import TopicSettings
from scurry.connectors.log.directory import Addition, LogDirectory
from scurry.connectors.log.partitioning import partitions_of
from scurry.connectors.log.records import LogMessages, Message
from scurry.connectors.messages import MessageSystem
from scurry.connectors.source import MEASURED
from scurry.errors import ArgumentError, SourceConnectionError, SourceNotFoundError, StorageError

#: Looks for records whose segments are deleted while they are read.
_TRIES = 8
#: Kafka's settings of topics that a log has, and the fields of TopicSettings.
_SETTINGS = {
    "num.partitions": "partitions",
    "retention.ms": "retention_ms",
    "retention.bytes": "retention_bytes",
    "segment.bytes": "segment_bytes",
}


def topic_settings(given: Mapping[str, str]) -> TopicSettings:
    """Return the settings of topics that Kafka's names give; others are none of topics.

    Raises:
        ArgumentError: One is no number that it can have.
    """
    found: dict[str, int | None] = {}
    for key, name in _SETTINGS.items():
        if key in given:
            text = str(given[key])
            least = -1 if key.startswith("retention") else 1
            if not text.removeprefix("-").isdecimal() or int(text) < least:
                raise ArgumentError(f"{key} must be a whole number, at least {least}, got {text!r}")
            found[name] = None if int(text) == -1 else int(text)
    return replace(TopicSettings(), **cast(dict[str, Any], found))


class LogCluster:
    """A log as the cluster that assigns offsets of partitions; it answers at once."""

    def __init__(self, path: str, group: str | None) -> None:
        """Refer to a log.

        Args:
            path: Its directory.
            group: The consumer group whose offsets are read and committed.
        """
        self._log = LogDirectory(path)
        self._group = group
        self.servers = self._log.path

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of every topic."""
        return self._log.topics()

    def earliest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the earliest available offsets."""
        names = list(partitions)
        return {**dict.fromkeys(names, 0), **{name: each.start for name, each in self._log.partitions(names).items()}}

    def latest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the end offsets."""
        names = list(partitions)
        return {**dict.fromkeys(names, 0), **{name: each.end for name, each in self._log.partitions(names).items()}}

    def at(self, partitions: Iterable[KafkaTopicPartition], timestamp: int) -> dict[KafkaTopicPartition, int]:
        """Return the offsets of the first records with this timestamp (ms) or a later one; -1 without such a record."""
        return {name: self._log.offset_at(name, timestamp) for name in partitions}

    def committed(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the offsets that the group has committed; partitions without any are omitted."""
        found = self._log.committed(self._group) if self._group is not None else {}
        return {name: found[name] for name in partitions if name in found}

    def ask_latest(self, partitions: list[KafkaTopicPartition]) -> _Answer:
        """Return the end offsets."""
        return _Answer(self.latest(partitions))

    def answered(self) -> None:
        """Do nothing: there is no connection."""

    def renew(self) -> None:
        """Do nothing: there is no connection."""

    def unreachable(self, error: Exception) -> SourceConnectionError:
        """Return the error for a log that cannot be read."""
        return SourceConnectionError(f"the log at {self.servers} cannot be read: {error}")

    def commit(self, offsets: dict[KafkaTopicPartition, int]) -> None:
        """Commit offsets of the group."""
        if self._group is not None:
            self._log.commit(self._group, offsets)

    def close(self) -> None:
        """Do nothing: there is no connection."""


@dataclass(frozen=True)
class _Answer:
    """Offsets that are there."""

    offsets: dict[KafkaTopicPartition, int]

    def here(self, seconds: float) -> bool:
        return True

    def result(self) -> dict[KafkaTopicPartition, int]:
        return self.offsets


@dataclass(frozen=True)
class LogTopics(PartitionedTopics):
    """Partitions of topics of a log, each read from an offset to an offset.

    Attributes:
        path: The directory of the log.
        subscription: The partitions to read.
        start: The first offsets; a job that resumes from a checkpoint or savepoint starts from the stored ones instead.
        stop: The end offsets; None to read indefinitely.
        group: Consumer group whose committed offsets show the job's progress.
        reset: Position to go on from if unread records were deleted: `earliest`, `latest`, or `none` to fail.
        discovery_ms: Milliseconds between looks for new partitions; 0 for never.
        readers: Number of channels; 0 for that of the partitions.
        commits: Whether the group's offsets are committed.
    """

    system: ClassVar[MessageSystem] = LogMessages()
    path: str
    subscription: Subscription
    start: KafkaOffsetsInitializer
    stop: KafkaOffsetsInitializer | None = None
    group: str | None = None
    reset: str = "none"
    discovery_ms: int = DISCOVERY_MS
    readers: int = 0
    commits: bool = True

    @property
    def fixed_channels(self) -> int:
        return self.readers

    @property
    def patience_seconds(self) -> float:
        return 0.0  # the file system waits itself

    @property
    def commits_offsets(self) -> bool:
        return self.commits

    def cluster(self) -> LogCluster:
        """Return the log."""
        return LogCluster(self.path, self.group)

    def messages(self, part: OffsetRange) -> Iterator[Sequence[Message]]:
        """Yield the messages of a range of offsets, by blocks.

        Raises:
            SourceNotFoundError: Records of the range have been deleted.
            StorageError: A segment is damaged, or the partition ends before the range.
        """
        topic, number, start, end = part
        name, log, size, at = KafkaTopicPartition(topic, number), LogDirectory(self.path), 0, start
        for attempt in range(_TRIES):
            at = self._kept(log, name, at, end)
            try:
                for header, (times, keys, values, headers) in log.blocks(name, at):
                    if header.offset >= end or at >= end:
                        break
                    block = list(
                        zip(
                            repeat(topic),
                            repeat(number),
                            range(header.offset, header.end),
                            times,
                            repeat(None) if keys is None else keys,
                            values,
                            repeat(()) if headers is None else headers,
                            strict=False,
                        )
                    )
                    if header.offset < at or header.end > end:
                        block = block[max(0, at - header.offset) : end - header.offset]
                    size += header.size
                    at = min(end, header.end)
                    yield block
                break
            except FileNotFoundError as error:  # deleted since: look again where the partition begins
                if attempt == _TRIES - 1:
                    raise StorageError(f"the log at {self.path} is damaged: {error}; restore it from a copy") from None
        if at < end:
            raise StorageError(
                f"topic {topic!r}, partition {number} at {log.path} has no record at offset {at}, although the job is "
                f"to read up to offset {end}: the topic was made anew, or this machine sees an earlier state of the "
                "directory; restart the job, without its checkpoint if the topic is another one"
            )
        MEASURED.get()(end - start, size)

    def _kept(self, log: LogDirectory, name: KafkaTopicPartition, at: int, end: int) -> int:
        """Return the offset from which a range can be read."""
        partition = log.partition(name)
        if partition is not None and partition.start <= at:
            return at
        if self.reset == "earliest" and partition is not None:
            return min(partition.start, end)
        if self.reset == "latest":
            return end
        raise SourceNotFoundError(
            f"topic {name.topic!r}, partition {name.partition} at {log.path}: the record at offset {at} no longer "
            "exists, so records were deleted before they were read; set the property auto.offset.reset to earliest to "
            "continue with what is left"
        )


def read_records(path: str, topic: str, last: int | None = None) -> list[ConsumerRecord]:
    """Return the records of a topic, partition by partition.

    Args:
        path: The directory of the log.
        topic: The topic.
        last: Number of records of each partition, the last ones; None for all.

    Raises:
        SourceNotFoundError: There is no such topic.
    """
    scan = LogTopics(path, Subscription((topic,)), KafkaOffsetsInitializer.earliest())
    parts = [(*name, start if last is None else max(start, end - last), end) for *name, start, end in scan.parts()]
    return [ConsumerRecord(*message) for part in parts for block in scan.messages(part) for message in block]


def written_blocks(
    topic: str,
    count: int,
    values: Sequence[bytes | str | None],
    keys: Sequence[bytes | str | None] | None,
    timestamps: Sequence[int] | None,
    partition: int | None,
) -> list[Addition]:
    """Return blocks of records for the partitions of a topic; records without key and partition go to the first.

    Raises:
        ArgumentError: There are not as many keys or timestamps as values.
    """
    keys = [None] * len(values) if keys is None else keys
    timestamps = [int(time.time() * 1000)] * len(values) if timestamps is None else timestamps
    if not len(values) == len(keys) == len(timestamps):
        raise ArgumentError(f"there are {len(values)} values, {len(keys)} keys and {len(timestamps)} timestamps")
    entries: dict[int, list[Entry]] = {}
    for value, key, stamp in zip(map(_bytes, values), map(_bytes, keys), timestamps, strict=True):
        number = partition if partition is not None else 0 if key is None else partitions_of([key], count)[0]
        entries.setdefault(number, []).append((key, value, stamp, None))
    return [(topic, number, list(encoded(some))) for number, some in entries.items()]


def _bytes(text: bytes | str | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text
