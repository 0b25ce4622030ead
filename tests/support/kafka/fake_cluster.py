"""A Kafka cluster made of dicts, and consumers that make their messages: sources without a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.connectors.kafka import reader as stream_reader
from scurry.connectors.kafka import topics
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kafka.dynamic import metadata
from scurry.connectors.kafka.partitions import KafkaTopicPartition
from scurry.errors import SourceConnectionError


class FakeCluster:
    """Partitions with a first and a next offset."""

    servers = "fake:9092"

    def __init__(self, ends: dict[KafkaTopicPartition, int]) -> None:
        self.ends = ends
        self.starts = dict.fromkeys(ends, 0)
        self.group: dict[KafkaTopicPartition, int] = {}
        self.away = False
        self.slow = False
        self.questions = 0

    def topics(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for topic, _ in self.ends:
            counts[topic] = counts.get(topic, 0) + 1
        return counts

    def earliest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        return {partition: self.starts[partition] for partition in partitions}

    def latest(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        return {partition: self.ends[partition] for partition in partitions}

    def at(self, partitions: Iterable[KafkaTopicPartition], timestamp: int) -> dict[KafkaTopicPartition, int]:
        return {partition: timestamp if timestamp < self.ends[partition] else -1 for partition in partitions}

    def committed(self, partitions: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, int]:
        return {partition: self.group[partition] for partition in partitions if partition in self.group}

    def ask_latest(self, partitions: list[KafkaTopicPartition]) -> FakeCluster:
        self.questions += 1
        self.asked = partitions
        return self

    def here(self, seconds: float) -> bool:
        return not self.slow

    def result(self) -> dict[KafkaTopicPartition, int]:
        if self.away:
            raise ConnectionError("away")
        return self.latest(self.asked)

    def answered(self) -> None:
        return

    def renew(self) -> None:
        return

    def unreachable(self, error: Exception) -> SourceConnectionError:
        return SourceConnectionError(f"unreachable: {error}")

    def commit(self, offsets: dict[KafkaTopicPartition, int]) -> None:
        self.group.update(offsets)

    def close(self) -> None:
        return


@dataclass(frozen=True)
class FakeMessage:
    """A message as librdkafka gives it: its length is that of its value."""

    place: KafkaTopicPartition
    at: int
    content: bytes

    def __len__(self) -> int:
        return len(self.content)

    def topic(self) -> str:
        return self.place.topic

    def partition(self) -> int:
        return self.place.partition

    def offset(self) -> int:
        return self.at

    def key(self) -> None:
        return None

    def value(self) -> bytes:
        return self.content

    def timestamp(self) -> tuple[int, int]:
        return 1, self.at

    def headers(self) -> None:
        return None

    def error(self) -> None:
        return None


class FakeConsumer:
    """A consumer of one partition whose messages are made when they are read."""

    def __init__(self, value: Callable[[KafkaTopicPartition, int], bytes]) -> None:
        self._value = value

    def assign(self, partitions: list[Any]) -> None:
        (first,) = partitions
        self._place, self._at = KafkaTopicPartition(first.topic, first.partition), first.offset

    def consume(self, count: int, timeout: float) -> list[FakeMessage]:
        offsets = range(self._at, self._at + count)
        self._at += count
        return [FakeMessage(self._place, at, self._value(self._place, at)) for at in offsets]

    def close(self) -> None:
        return


def replace_kafka(
    monkeypatch: pytest.MonkeyPatch, cluster: FakeCluster, value: Callable[[KafkaTopicPartition, int], bytes]
) -> None:
    """Let the sources of streams and tables read a fake cluster.

    Args:
        monkeypatch: Undoes that.
        cluster: The cluster.
        value: Returns the message at an offset of a partition.
    """
    replace_clusters(monkeypatch, lambda servers: cluster, lambda servers, place, at: value(place, at))


def replace_clusters(
    monkeypatch: pytest.MonkeyPatch,
    cluster: Callable[[str], FakeCluster],
    value: Callable[[str, KafkaTopicPartition, int], bytes],
) -> None:
    """Let the sources of streams and tables read several fake clusters.

    Args:
        monkeypatch: Undoes that.
        cluster: Returns the cluster of some bootstrap servers.
        value: Returns the message at an offset of a partition of a cluster.
    """

    def consumer(configuration: dict[str, Any]) -> FakeConsumer:
        servers = configuration["bootstrap.servers"]
        return FakeConsumer(lambda place, at: value(servers, place, at))

    module = SimpleNamespace(
        Consumer=consumer,
        TopicPartition=lambda topic, partition, offset: SimpleNamespace(
            topic=topic, partition=partition, offset=offset
        ),
        Message=FakeMessage,
        KafkaError=SimpleNamespace(_PARTITION_EOF=-191),
    )
    monkeypatch.setattr(stream_reader, "confluent", lambda: module)
    readers: ClientPool[Any] = ClientPool()  # none of those that an earlier test has left
    monkeypatch.setattr(topics, "READERS", readers)
    for module_of_driver in (topics, metadata):
        monkeypatch.setattr(module_of_driver, "Cluster", lambda properties, group: cluster(properties.servers))
