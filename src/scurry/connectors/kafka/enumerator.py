"""KafkaEnumerator: assigns ranges of offsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.client import announce_wait
from scurry.connectors.kafka.partitions import (
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    OffsetLookup,
    Subscription,
)
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Enumerator
from scurry.errors import SourceConnectionError

#: Seconds between requests for end offsets while partitions have nothing new.
POLL_SECONDS = 0.05
#: Maximum time that a request may block the driver; a later answer is used in the next call.
WAIT_SECONDS = 0.1

#: Seconds between requests to a cluster that does not answer.
AWAY_SECONDS = 0.5

#: Assumed record size of a partition that has not been read yet: the brokers' default maximum.
LARGEST_RECORD = 1 << 20

#: A range to read: topic, partition, first offset, offset after the last.
OffsetRange = tuple[str, int, int, int]


class PendingOffsets(Protocol):
    """Requested offsets that are not available yet."""

    def here(self, seconds: float) -> bool:
        """Wait up to this many seconds; return whether they are available."""

    def result(self) -> dict[KafkaTopicPartition, int]:
        """Return the offsets."""


class KafkaCluster(OffsetLookup, Protocol):
    """The operations of a cluster that an enumerator needs."""

    servers: str

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of every topic."""

    def ask_latest(self, partitions: list[KafkaTopicPartition]) -> PendingOffsets:
        """Request the end offsets of partitions, without waiting."""

    def answered(self) -> None:
        """Note that the cluster has answered."""

    def renew(self) -> None:
        """Connect again."""

    def unreachable(self, error: Exception) -> SourceConnectionError:
        """Return the error for a cluster that does not answer."""

    def commit(self, offsets: dict[KafkaTopicPartition, int]) -> None:
        """Commit offsets of the group, without waiting."""

    def close(self) -> None:
        """Release the connection."""


@dataclass(frozen=True)
class EnumeratorSettings:
    """Settings of the assignment of partitions.

    Attributes:
        channels: Number of readers; partition i is assigned to reader i modulo this number.
        limits: Limits of one micro-batch; offsets count as records, although some hold none.
        discovery_seconds: Time between discoveries of new partitions; None for no discovery.
        patience_seconds: How long the cluster may be unavailable.
        commits: Whether the group's offsets are committed.
    """

    channels: int
    limits: BatchLimits
    discovery_seconds: float | None
    patience_seconds: float
    commits: bool


@dataclass
class _Partition:
    """A partition and its next unassigned offset; if `stop` is None, it never ends."""

    name: KafkaTopicPartition
    next: int
    stop: int | None

    @property
    def ended(self) -> bool:
        return self.stop is not None and self.next >= self.stop


class KafkaEnumerator(Enumerator):
    """Assign the offsets up to the current ends of the partitions."""

    def __init__(
        self,
        cluster: KafkaCluster,
        subscription: Subscription,
        start: KafkaOffsetsInitializer,
        stop: KafkaOffsetsInitializer | None,
        settings: EnumeratorSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create an enumerator; it sends the first request to the cluster with the first batch.

        Args:
            cluster: The cluster.
            subscription: The partitions to read.
            start: The first offsets.
            stop: The end offsets; None for an unbounded source.
            settings: The number of channels, the limits and intervals.
            clock: Returns the time in seconds.
        """
        self._cluster = cluster
        self._subscription = subscription
        self._start, self._stop = start, stop
        self._settings = settings
        self._limits = settings.limits
        #: channel -> mean bytes of a record, where known; None if not measured, and then bytes are not limited
        self._record_bytes: Mapping[int, float] | None = None
        #: the channels that wait for others; None if channels share the limits
        self._held: Collection[int] | None = None
        self._ahead = 0
        self._clock = clock
        self._partitions: list[_Partition] = []
        self._ended: set[int] = set()
        self._speaking: set[int] = set()
        self._asked: PendingOffsets | None = None
        #: the ends of the partitions at the last answer
        self._known: dict[KafkaTopicPartition, int] = {}
        self._looked = self._away_since = float("-inf")
        self._discovered: float | None = None
        #: whether another subscription has to be looked up
        self._changed = False
        self._started = False
        self._reported: dict[KafkaTopicPartition, int] = {}

    # ---------------------------------------------------------------- partitions

    def _discover(self) -> None:
        """Add new partitions: those of the first discovery from `start`, later ones from their earliest offsets."""
        self._discovered, self._changed = self._clock(), False
        known = {partition.name for partition in self._partitions if not self._removed(partition)}
        found = self._subscription.found(self._cluster.topics(), self._cluster.servers)
        new = [name for name in found if name not in known]
        if not new:
            return
        start = KafkaOffsetsInitializer.earliest() if self._started else self._start
        starts = start.resolve(new, self._cluster)
        stops = self._stop.stops(new, self._cluster) if self._stop is not None else {}
        self._partitions += [_Partition(name, starts[name], stops.get(name)) for name in new]

    def discover_if_due(self) -> None:
        """Look for new partitions if it is time; `next_batch` does so, too."""
        every = self._settings.discovery_seconds
        if (
            not self._started
            or self._changed
            or (every is not None and (self._discovered is None or self._clock() >= self._discovered + every))
        ):
            self._discover()
        self._started = True

    def subscribe(self, subscription: Subscription) -> None:
        """Read the partitions of a subscription by topics from the next batch on; those of other topics end here."""
        self._subscription, self._changed, self._asked = subscription, True, None
        for partition in self._partitions:
            if partition.name.topic not in subscription.topics:
                partition.stop = partition.next
                self._known.pop(partition.name, None)

    def _removed(self, partition: _Partition) -> bool:
        """Return whether a partition has ended although the source does not: it keeps its channel, and is read no more.

        If its topic comes back, it is a new partition.
        """
        return self._stop is None and partition.ended

    # ---------------------------------------------------------------- assigning

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float] | None) -> None:
        """Limit later batches by records and, if sizes are known, by estimated bytes."""
        self._limits, self._record_bytes = limits, record_bytes

    def align(self, held: Collection[int]) -> None:
        """Hold the partitions of some channels back, and limit each other channel by itself."""
        self._held = held

    def expects(self, channel: int) -> bool:
        """Return whether a channel has partitions that have not ended."""
        return any(not partition.ended for partition in self._partitions[channel :: self._settings.channels])

    def backlog(self) -> Backlog:
        """Return the number of unassigned offsets, by the last known ends of the partitions."""
        if self._held is None:
            return Backlog(self._ahead)
        channels, lags = range(self._settings.channels), self._lags(self._known)
        return Backlog(self._ahead, channels={each: sum(lags[each :: len(channels)]) for each in channels})

    def describe(self, channel: int) -> str:
        """Return the names of a channel's partitions."""
        mine = self._partitions[channel :: self._settings.channels]
        return ", ".join(f"{partition.name.topic}-{partition.name.partition}" for partition in mine)

    def next_batch(self) -> list[Assignment]:
        """Return ranges up to the current ends of the partitions, within the limits."""
        if len(self._ended) == self._settings.channels:
            return []
        self.discover_if_due()
        ends = self._ends()
        works: dict[int, list[OffsetRange]] = {channel: [] for channel in self._newly_speaking()}
        if ends is not None:
            lags = self._lags(ends)
            assigned = self._shares(lags)
            self._ahead = sum(lags) - sum(assigned)
            for number, share in enumerate(assigned):
                if share:
                    partition = self._partitions[number]
                    work = (*partition.name, partition.next, partition.next + share)
                    works.setdefault(number % self._settings.channels, []).append(work)
                    partition.next += share
        final = self._newly_ended()
        return [
            Assignment(channel, works.get(channel), channel in final, _size(works.get(channel)))
            for channel in sorted({*works, *final})
        ]

    def _shares(self, lags: list[int]) -> list[int]:
        """Return how many offsets of each partition to assign."""
        if self._held is None:
            return self._within_limits(range(len(lags)), lags)
        assigned, channels = [0] * len(lags), self._settings.channels
        for channel in range(min(channels, len(lags))):
            if channel not in self._held:
                numbers = range(channel, len(lags), channels)
                assigned[channel::channels] = self._within_limits(numbers, lags[channel::channels])
        return assigned

    def _within_limits(self, numbers: Sequence[int], lags: list[int]) -> list[int]:
        """Return how many offsets of some partitions to assign within the limits."""
        assigned = shares(lags, self._limits.max_records)
        known, channels = self._record_bytes, self._settings.channels
        if known is None:
            return assigned
        sizes = [max(1.0, known.get(number % channels, LARGEST_RECORD)) for number in numbers]
        in_bytes = shares([ceil(n * size) for n, size in zip(assigned, sizes, strict=True)], self._limits.max_bytes)
        return [
            min(records, max(1, int(share / size)))
            for records, share, size in zip(assigned, in_bytes, sizes, strict=True)
        ]

    def _newly_speaking(self) -> set[int]:
        """Return channels that have a partition and have had no assignment.

        They get an assignment even if it is empty: as in Flink, partitions without records hold the watermark back
        until they are idle. The first batch assigns all initial channels at once, before any record is processed.
        """
        channels = self._settings.channels
        busy = {number % channels for number, partition in enumerate(self._partitions) if not partition.ended}
        news = busy - self._speaking
        self._speaking |= news
        return news

    def _lag(self, partition: _Partition, ends: dict[KafkaTopicPartition, int]) -> int:
        end = ends.get(partition.name, partition.next)
        if partition.stop is not None:
            end = min(end, partition.stop)
        return max(0, end - partition.next)

    def _lags(self, ends: dict[KafkaTopicPartition, int]) -> list[int]:
        return [self._lag(partition, ends) for partition in self._partitions]

    def _newly_ended(self) -> set[int]:
        """Return channels that have ended since the last call."""
        if self._stop is None:
            return set()
        channels = self._settings.channels
        busy = {number % channels for number, partition in enumerate(self._partitions) if not partition.ended}
        ended = set(range(channels)) - busy - self._ended
        self._ended |= ended
        return ended

    def _ends(self) -> dict[KafkaTopicPartition, int] | None:
        """Return the ends of the partitions, None if there is no answer yet; a cluster may be unavailable for a while.

        While the known backlog exceeds a batch, this does not wait for the answer, which the next call uses.
        """
        if self._asked is not None and self._known and self._asked.here(0) and self._answer() is None:
            return None
        lags = self._lags(self._known)
        plenty = sum(self._shares(lags)) < sum(lags)
        if self._asked is None:
            if self._clock() < self._looked + POLL_SECONDS and not plenty:
                return None
            self._looked = self._clock()
            names = [partition.name for partition in self._partitions if not partition.ended]
            if not names:
                return None
            self._asked = self._cluster.ask_latest(names)
        if plenty:
            return self._known
        return self._answer() if self._asked.here(WAIT_SECONDS) else None

    def _answer(self) -> dict[KafkaTopicPartition, int] | None:
        """Return the ends in the answer, None if the cluster is unavailable."""
        assert self._asked is not None
        asked, self._asked = self._asked, None
        try:
            ends = asked.result()
        except Exception as error:
            self._away(error)
            return None
        self._away_since = float("-inf")
        self._cluster.answered()
        self._known = {**self._known, **ends}
        if any(self._lags(ends)):
            self._looked = float("-inf")  # more records are likely: ask again at once
        return ends

    def _away(self, error: Exception) -> None:
        now = self._clock()
        if self._away_since == float("-inf"):
            self._away_since = now
            announce_wait(self._cluster.servers, self._settings.patience_seconds)
        if now > self._away_since + self._settings.patience_seconds:
            raise self._cluster.unreachable(error) from None
        self._looked = now + AWAY_SECONDS
        self._cluster.renew()

    def idle_hint(self) -> float:
        """Return the seconds until the ends are requested again."""
        return 0.0 if self._asked is not None else max(0.0, self._looked + POLL_SECONDS - self._clock())

    # ---------------------------------------------------------------- position

    def position(self) -> dict[str, Any]:
        """Return the next and the end offset of every partition."""
        return {
            "partitions": [[*partition.name, partition.next, partition.stop] for partition in self._partitions],
            "channels": self._settings.channels,
            "ended": sorted(self._ended),
            "started": self._started,
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue behind the assigned offsets; another number of channels distributes the partitions again."""
        self._partitions = [
            _Partition(KafkaTopicPartition(topic, number), offset, stop)
            for topic, number, offset, stop in position["partitions"]
        ]
        self._started = position["started"]
        self._ended = set(position["ended"]) if position["channels"] == self._settings.channels else set()
        self._discovered = None

    def committed(self) -> None:
        """Commit the group's offsets, for monitoring."""
        if not self._settings.commits:
            return
        offsets = {partition.name: partition.next for partition in self._partitions}
        news = {name: offset for name, offset in offsets.items() if self._reported.get(name) != offset}
        if news:
            self._cluster.commit(news)
            self._reported = offsets

    def close(self) -> None:
        """Close the connection."""
        self._cluster.close()


def _size(ranges: list[OffsetRange] | None) -> int:
    return sum(end - start for _, _, start, end in ranges or ())


def shares(lags: list[int], budget: int) -> list[int]:
    """Return the share of each lag in a budget: equal shares; the rest of short lags goes to the others."""
    assigned, left = [0] * len(lags), budget
    waiting = sorted((number for number, lag in enumerate(lags) if lag), key=lambda number: lags[number])
    while waiting:
        number = waiting.pop(0)
        assigned[number] = min(lags[number], max(1, left // (len(waiting) + 1)))
        left -= assigned[number]
    return assigned
