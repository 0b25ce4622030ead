"""DynamicKafkaEnumerator: assigns ranges of offsets of the clusters that a metadata service names."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.connectors.kafka.dynamic.metadata import ClusterMetadata
from scurry.connectors.kafka.enumerator import LARGEST_RECORD, KafkaEnumerator
from scurry.connectors.kafka.topics import KafkaTopics
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Enumerator

_LOGGER = logging.getLogger("scurry.kafka")

#: Seconds until a source without clusters looks again whether it is time to ask the service.
EMPTY_SECONDS = 0.1


class StreamsOfClusters(Protocol):
    """The source, as its enumerator sees it."""

    @property
    def discovery_ms(self) -> int:
        """Return the milliseconds between questions to the service; 0 or less for one."""

    @property
    def failure_threshold(self) -> int:
        """Return how many such questions in a row may fail."""

    @property
    def ends(self) -> bool:
        """Return whether there are end offsets."""

    def clusters(self, first: bool = False) -> dict[str, ClusterMetadata]:
        """Ask the service for the clusters of the streams."""

    def topics_of(self, cluster: ClusterMetadata) -> KafkaTopics:
        """Return the topics of a cluster as a source of their own."""

    def range_of(self, name: str, cluster: ClusterMetadata, part: tuple[str, int, int, int]) -> Any:
        """Return a range of offsets of a cluster."""


@dataclass
class _Cluster:
    """A cluster that is read: its metadata, its enumerator, and the source's channel of each of its channels."""

    metadata: ClusterMetadata
    enumerator: KafkaEnumerator
    channels: list[int]

    def busy(self) -> set[int]:
        """Return the source's channels that have partitions which have not ended."""
        return {channel for own, channel in enumerate(self.channels) if self.enumerator.expects(own)}


class DynamicKafkaEnumerator(Enumerator):
    """Assign the offsets up to the current ends of the partitions of several clusters.

    Each cluster has a `KafkaEnumerator` with channels of its own, which this one maps to those of the source.
    """

    def __init__(
        self,
        source: StreamsOfClusters,
        channels: int,
        limits: BatchLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create an enumerator, which asks the service with the first batch.

        Args:
            source: The streams to read.
            channels: Number of readers.
            limits: Limits of one micro-batch, over all clusters.
            clock: Returns the time in seconds.
        """
        self._source = source
        self._channels = channels
        self._limits = limits
        self._record_bytes: Mapping[int, float] | None = None
        self._held: Collection[int] | None = None
        self._clock = clock
        self._clusters: dict[str, _Cluster] = {}
        #: positions of clusters from a checkpoint, until the service has said whether they are there still
        self._restored: dict[str, dict[str, Any]] = {}
        self._ended: set[int] = set()
        #: channels that have had partitions, and hold the watermark back
        self._spoken: set[int] = set()
        self._started = False
        self._asked: float | None = None
        self._failures = 0

    # ---------------------------------------------------------------- clusters

    def _discover_if_due(self) -> None:
        every = self._source.discovery_ms / 1000
        if self._asked is None or (every > 0 and not self._source.ends and self._clock() >= self._asked + every):
            self._asked = self._clock()
            found = self._answer()
            if found is not None:
                self._reconcile(found)

    def _answer(self) -> dict[str, ClusterMetadata] | None:
        """Return the clusters, None if the service fails and is allowed to."""
        try:
            found = self._source.clusters(first=not self._started)
        except Exception as error:
            self._failures += 1
            if not self._clusters or self._failures > self._source.failure_threshold:
                raise
            _LOGGER.warning("Kafka metadata service: %s; reading goes on", without_secrets(str(error)))
            return None
        self._failures = 0
        return found

    def _reconcile(self, found: dict[str, ClusterMetadata]) -> None:
        for name in [name for name in self._clusters if name not in found]:
            _LOGGER.info("Kafka cluster %s is read no more", name)
            self._clusters.pop(name).enumerator.close()
        for name, metadata in found.items():
            known = self._clusters.get(name)
            if known is None:
                self._clusters[name] = self._begun(metadata, self._restored.get(name))
            elif known.metadata != metadata:
                position = {"position": known.enumerator.position(), "channels": known.channels}
                known.enumerator.close()
                self._clusters[name] = self._begun(metadata, position)
        self._restored = {}
        self._started = True

    def _begun(self, metadata: ClusterMetadata, position: dict[str, Any] | None) -> _Cluster:
        topics = self._source.topics_of(metadata)
        enumerator = topics.create_enumerator(self._channels, self._limits)
        channels: list[int] = []
        if position is not None:
            enumerator.restore(position["position"])
            enumerator.subscribe(topics.subscription)
            channels = position["channels"]
        if len(channels) != self._channels:
            channels = self._least_busy()
        enumerator.discover_if_due()  # so that clusters which are begun after it know its load
        return _Cluster(metadata, enumerator, channels)

    def _least_busy(self) -> list[int]:
        """Return a channel for each of a new cluster's: those with the fewest partitions of others first."""
        loads = dict.fromkeys((each for each in range(self._channels) if each not in self._ended), 0)
        for cluster in self._clusters.values():
            for channel in cluster.busy() & loads.keys():
                loads[channel] += 1
        order = sorted(loads, key=lambda channel: (loads[channel], channel))
        return [order[own % len(order)] for own in range(self._channels)]

    # ---------------------------------------------------------------- assigning

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Limit later batches by records and by estimated bytes."""
        self._limits, self._record_bytes = limits, record_bytes

    def align(self, held: Collection[int]) -> None:
        """Hold the partitions of some channels back, and limit each other channel by itself."""
        self._held = held

    def next_batch(self) -> list[Assignment]:
        """Return ranges up to the current ends of the partitions, within the limits that all clusters share."""
        if len(self._ended) == self._channels:
            return []
        self._discover_if_due()
        works: dict[int, list[Any]] = {}
        amounts: dict[int, int] = {}
        left = self._limits
        # Those with little to read first: what they leave of their shares is for the others.
        waiting = sorted(self._clusters, key=lambda name: self._clusters[name].enumerator.backlog().records or 0)
        while waiting:
            share = 1 if self._held is not None else len(waiting)
            name = waiting.pop(0)
            assigned = self._assigned(self._clusters[name], left, share)
            left = self._without(left, assigned)
            for channel, each in assigned:
                if each.work is not None:
                    ranges = [self._source.range_of(name, self._clusters[name].metadata, part) for part in each.work]
                    works.setdefault(channel, []).extend(ranges)
                    amounts[channel] = amounts.get(channel, 0) + (each.amount or 0)
        self._spoken |= works.keys()
        final = self._newly_ended()
        return [
            Assignment(channel, works.get(channel), channel in final, amounts.get(channel, 0))
            for channel in sorted({*works, *final})
        ]

    def _assigned(self, cluster: _Cluster, left: BatchLimits, share: int) -> list[tuple[int, Assignment]]:
        """Return the assignments of a cluster within its share of the limits, each with the source's channel."""
        enumerator, channels = cluster.enumerator, cluster.channels
        sizes = self._record_bytes
        own_sizes = None if sizes is None else {own: sizes[it] for own, it in enumerate(channels) if it in sizes}
        limits = BatchLimits(max(1, left.max_bytes // share), max(1, left.max_records // share), left.max_record_bytes)
        enumerator.limit(limits, own_sizes)
        if self._held is not None:
            enumerator.align({own for own, channel in enumerate(channels) if channel in self._held})
        return [(channels[each.channel], each) for each in enumerator.next_batch()]

    def _without(self, left: BatchLimits, assigned: list[tuple[int, Assignment]]) -> BatchLimits:
        """Return the rest of the limits; aligned channels are limited each by itself."""
        if self._held is not None:
            return left
        sizes = self._record_bytes
        records = sum(each.amount or 0 for _, each in assigned)
        size = sum((each.amount or 0) * (sizes or {}).get(channel, LARGEST_RECORD) for channel, each in assigned)
        used = 0 if sizes is None else int(size)
        return BatchLimits(max(1, left.max_bytes - used), max(1, left.max_records - records), left.max_record_bytes)

    def _newly_ended(self) -> set[int]:
        """Return the channels whose last partition has ended.

        Those that have lost all their partitions end, too, so that they do not hold the watermark back; one of them
        stays if there is nothing else, for clusters that come later.
        """
        busy = set[int]().union(*(cluster.busy() for cluster in self._clusters.values()))
        if self._source.ends:
            ended = set(range(self._channels)) - busy - self._ended
        else:
            ended = self._spoken - busy - self._ended
            if not busy:
                ended.discard(min(ended, default=-1))
        self._ended |= ended
        if ended and not self._source.ends:
            self._lead_away(ended)
        return ended

    def _lead_away(self, ended: set[int]) -> None:
        """Let partitions that come later go to channels that have not ended."""
        for cluster in self._clusters.values():
            others = self._least_busy()
            for own, channel in enumerate(cluster.channels):
                if channel in ended:
                    cluster.channels[own] = others[own]

    # ---------------------------------------------------------------- progress

    def expects(self, channel: int) -> bool:
        """Return whether a channel has partitions that have not ended."""
        return any(channel in cluster.busy() for cluster in self._clusters.values())

    def backlog(self) -> Backlog:
        """Return the number of unassigned offsets, by the last known ends of the partitions."""
        records, channels = 0, dict.fromkeys(range(self._channels), 0)
        for cluster in self._clusters.values():
            known = cluster.enumerator.backlog()
            records += known.records or 0
            for own, amount in (known.channels or {}).items():
                channels[cluster.channels[own]] += amount
        return Backlog(records, channels=None if self._held is None else channels)

    def describe(self, channel: int) -> str:
        """Return the names of a channel's partitions, by cluster."""
        found = []
        for name, cluster in self._clusters.items():
            own = [cluster.enumerator.describe(each) for each, it in enumerate(cluster.channels) if it == channel]
            if names := ", ".join(filter(None, own)):
                found.append(f"{name}: {names}")
        return "; ".join(found)

    def idle_hint(self) -> float:
        """Return the seconds until the ends of a cluster's partitions are requested again."""
        return min((each.enumerator.idle_hint() for each in self._clusters.values()), default=EMPTY_SECONDS)

    def position(self) -> dict[str, Any]:
        """Return the next and the end offset of every partition of each cluster; no properties of clients."""
        clusters = {
            name: {"position": cluster.enumerator.position(), "channels": list(cluster.channels)}
            for name, cluster in self._clusters.items()
        }
        return {
            "clusters": {**self._restored, **clusters},
            "channels": self._channels,
            "ended": sorted(self._ended),
            "spoken": sorted(self._spoken),
            "started": self._started,
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue behind the assigned offsets; another number of channels distributes the partitions again."""
        self._restored = position["clusters"]
        self._started = position["started"]
        same = position["channels"] == self._channels
        self._ended = set(position["ended"]) if same else set()
        self._spoken = set(position["spoken"]) if same else set()
        self._asked = None

    def committed(self) -> None:
        """Commit the group's offsets in each cluster, for monitoring."""
        for cluster in self._clusters.values():
            cluster.enumerator.committed()

    def close(self) -> None:
        """Close the connections."""
        for cluster in self._clusters.values():
            cluster.enumerator.close()
