"""The partitions that a source reads, and the offsets where it starts and stops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple, Protocol

from scurry._dataclasses import dataclass
from scurry.common._java_regex.patterns import compiled
from scurry.errors import ArgumentError, ArgumentTypeError, SourceNotFoundError
from scurry.errors.suggestions import similar_name


class KafkaTopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class KafkaOffsetResetStrategy(Enum):
    """Start position without a valid offset: the end, the beginning, or a failure."""

    LATEST = 0
    EARLIEST = 1
    NONE = 2


class OffsetLookup(Protocol):
    """Look up offsets of partitions."""

    def earliest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the earliest available offsets."""

    def latest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the end offsets."""

    def at(self, partitions: Iterable[KafkaTopicPartition], timestamp: int) -> dict[KafkaTopicPartition, int]:
        """Return the offsets of the first records with this timestamp (ms) or a later one; -1 without such a record."""

    def committed(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        """Return the offsets that the group has committed; partitions without any are omitted."""


class _Kind(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    TIMESTAMP = "timestamp"
    OFFSETS = "offsets"


@dataclass(frozen=True)
class KafkaOffsetsInitializer:
    """The offsets from which, or up to which, partitions are read; created by the static methods."""

    kind: _Kind
    reset: KafkaOffsetResetStrategy
    milliseconds: int = 0
    given: tuple[tuple[KafkaTopicPartition, int], ...] = ()

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Return an initializer for the earliest available offsets."""
        return KafkaOffsetsInitializer(_Kind.EARLIEST, KafkaOffsetResetStrategy.EARLIEST)

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Return an initializer for the end offsets at the start of the job."""
        return KafkaOffsetsInitializer(_Kind.LATEST, KafkaOffsetResetStrategy.LATEST)

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Return an initializer for the offsets that the source's consumer group has committed.

        Args:
            offset_reset_strategy: Start of partitions without a committed offset; NONE fails the job.
        """
        return KafkaOffsetsInitializer(_Kind.COMMITTED, _strategy(offset_reset_strategy))

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Return an initializer for the first records with this timestamp or a later one.

        Partitions without such a record are read from their end.

        Args:
            timestamp: Milliseconds since 1970.

        Raises:
            ArgumentError: The timestamp is negative.
        """
        if timestamp < 0:
            raise ArgumentError(f"timestamp must be milliseconds since 1970, got {timestamp}")
        return KafkaOffsetsInitializer(_Kind.TIMESTAMP, KafkaOffsetResetStrategy.LATEST, timestamp)

    @staticmethod
    def offsets(
        offsets: Mapping[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Return an initializer for these offsets.

        Args:
            offsets: Partition -> offset.
            offset_reset_strategy: Start of other partitions, and of those whose offsets are not available.

        Raises:
            ArgumentError: An offset is negative.
        """
        for partition, offset in offsets.items():
            if not isinstance(partition, KafkaTopicPartition):
                raise ArgumentTypeError(f"offsets takes a dict of KafkaTopicPartition to int, got key {partition!r}")
            if offset < 0:
                raise ArgumentError(f"the offset in {partition} must be 0 or more, got {offset}")
        return KafkaOffsetsInitializer(_Kind.OFFSETS, _strategy(offset_reset_strategy), 0, tuple(offsets.items()))

    @property
    def needs_group(self) -> bool:
        """Return whether it needs the committed offsets of a consumer group."""
        return self.kind is _Kind.COMMITTED

    @property
    def can_stop(self) -> bool:
        """Return whether it can be used as an end."""
        return self.kind is not _Kind.EARLIEST

    def resolve(self, partitions: list[KafkaTopicPartition], lookup: OffsetLookup) -> dict[KafkaTopicPartition, int]:
        """Return an offset for every partition.

        Raises:
            SourceNotFoundError: A partition has no such offset, and the strategy is NONE.
        """
        if self.kind is _Kind.EARLIEST:
            return lookup.earliest(partitions)
        latest = lookup.latest(partitions)
        if self.kind is _Kind.LATEST:
            return latest
        if self.kind is _Kind.TIMESTAMP:
            found = lookup.at(partitions, self.milliseconds)
            return {partition: latest[partition] if at < 0 else at for partition, at in found.items()}
        found = dict(self.given) if self.kind is _Kind.OFFSETS else lookup.committed(partitions)
        return {partition: self._checked(partition, found.get(partition), lookup, latest) for partition in partitions}

    def _checked(
        self,
        partition: KafkaTopicPartition,
        offset: int | None,
        lookup: OffsetLookup,
        latest: dict[KafkaTopicPartition, int],
    ) -> int:
        earliest = lookup.earliest([partition])[partition]
        if offset is not None and earliest <= offset <= latest[partition]:
            return offset
        if self.reset is KafkaOffsetResetStrategy.EARLIEST:
            return earliest
        if self.reset is KafkaOffsetResetStrategy.LATEST:
            return latest[partition]
        what = f"no {self.kind.value} offset" if offset is None else f"offset {offset} is not"
        raise SourceNotFoundError(
            f"{what} in topic {partition.topic!r}, partition {partition.partition} (it has {earliest} to "
            f"{latest[partition]}); give the initializer a KafkaOffsetResetStrategy other than NONE"
        )

    def stops(self, partitions: list[KafkaTopicPartition], lookup: OffsetLookup) -> dict[KafkaTopicPartition, int]:
        """Return the end offsets of those partitions that have one."""
        if self.kind is _Kind.OFFSETS:  # an end may be in the future
            return {partition: offset for partition, offset in self.given if partition in partitions}
        return self.resolve(partitions, lookup)


def _strategy(strategy: KafkaOffsetResetStrategy) -> KafkaOffsetResetStrategy:
    if not isinstance(strategy, KafkaOffsetResetStrategy):
        raise ArgumentTypeError(f"offset_reset_strategy takes a KafkaOffsetResetStrategy, got {strategy!r}")
    return strategy


@dataclass(frozen=True)
class Subscription:
    """The partitions to read: topics by name, all topics whose names match a pattern, or single partitions.

    Attributes:
        topics: Names of topics.
        pattern: A regular expression of names.
        partitions: Single partitions.
        otherwise: Hint for a topic that is missing.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: tuple[KafkaTopicPartition, ...] = ()
    otherwise: str = "create it, or subscribe by set_topic_pattern to wait for it"

    def found(self, counts: Mapping[str, int], servers: str) -> list[KafkaTopicPartition]:
        """Return the partitions, in order.

        Args:
            counts: Topic -> number of partitions, for all topics of the cluster.
            servers: The bootstrap servers, for error messages.

        Raises:
            SourceNotFoundError: A topic or partition given by name does not exist.
        """
        if self.pattern is not None:
            matches = compiled(self.pattern).fullmatch
            topics = [topic for topic in sorted(counts) if matches(topic) and not topic.startswith("__")]
        else:
            wanted = dict.fromkeys([*self.topics, *(partition.topic for partition in self.partitions)])
            for topic in wanted:
                if topic not in counts:
                    raise SourceNotFoundError(_missing(topic, counts, servers, self.otherwise))
            topics = list(self.topics)
        for partition in self.partitions:
            if partition.partition >= counts[partition.topic]:
                raise SourceNotFoundError(
                    f"topic {partition.topic!r} at {servers} has no partition {partition.partition}: "
                    f"it has {counts[partition.topic]}"
                )
        every = [KafkaTopicPartition(topic, number) for topic in topics for number in range(counts[topic])]
        return sorted({*every, *self.partitions})


def _missing(topic: str, counts: Mapping[str, int], servers: str, otherwise: str) -> str:
    close = similar_name(topic, counts)
    hint = f"; did you mean {close!r}?" if close else f"; {otherwise}"
    return f"there is no topic {topic!r} at {servers}{hint}"
