"""The dynamic source reads each offset of each cluster once, while clusters and topics come and go."""

from __future__ import annotations

import json
import pickle
from collections.abc import Collection, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.connectors.kafka import enumerator as kafka_enumerator
from scurry.connectors.kafka import topics as kafka_topics
from scurry.connectors.kafka.dynamic.enumerator import DynamicKafkaEnumerator
from scurry.connectors.kafka.dynamic.metadata import (
    ClusterMetadata,
    KafkaMetadataService,
    KafkaStream,
    KafkaStreamSetSubscriber,
    KafkaStreamSubscriber,
    StreamPatternSubscriber,
)
from scurry.connectors.kafka.dynamic.topics import DynamicTopics
from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, KafkaTopicPartition
from scurry.connectors.source import BatchLimits
from scurry.errors import SourceConnectionError, SourceNotFoundError
from support.kafka.fake_cluster import FakeCluster, FakeMessage, replace_clusters

EARLIEST, LATEST = KafkaOffsetsInitializer.earliest(), KafkaOffsetsInitializer.latest()
#: Longer than the interval of discovery in these tests.
LATER = 61.0


def partition(topic: str, number: int = 0) -> KafkaTopicPartition:
    return KafkaTopicPartition(topic, number)


class Service(KafkaMetadataService):
    """A metadata service whose answer the test sets: stream -> cluster -> topics."""

    def __init__(self, streams: dict[str, dict[str, set[str]]], properties: Mapping[str, str] | None = None) -> None:
        self.streams = streams
        self.properties = dict(properties or {})
        self.away = False
        self.questions = 0

    def get_all_streams(self) -> Collection[KafkaStream]:
        self.questions += 1
        if self.away:
            raise RuntimeError("password=hunter2 refused")
        return [
            KafkaStream(
                stream,
                {
                    cluster: ClusterMetadata(frozenset(topics), {"bootstrap.servers": f"{cluster}:1"} | self.properties)
                    for cluster, topics in clusters.items()
                },
            )
            for stream, clusters in self.streams.items()
        ]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


class Reading:
    """A dynamic source over fake clusters, and the ranges that it has assigned."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, service: Service, **settings: Any) -> None:
        self.servers: dict[str, FakeCluster] = {}
        replace_clusters(
            monkeypatch,
            lambda servers: self.servers[servers.partition(":")[0]],
            lambda servers, place, at: f"{servers} {place.topic}-{place.partition} {at}".encode(),
        )
        monkeypatch.setattr(kafka_enumerator, "POLL_SECONDS", 0.0)  # their clock is the real one
        self.service = service
        self.clock = Clock()
        self.channels = settings.pop("channels", 4)
        self.max_records = settings.pop("max_records", 100)
        subscriber: KafkaStreamSubscriber = settings.pop("subscriber", StreamPatternSubscriber(".*"))
        given: dict[str, Any] = {"start": EARLIEST, "discovery_ms": 60_000} | settings
        self.source = DynamicTopics(service, subscriber, {}, **given)
        self.enumerator = self.made()

    def made(self, channels: int | None = None) -> DynamicKafkaEnumerator:
        limits = BatchLimits(max_records=self.max_records)
        return DynamicKafkaEnumerator(self.source, channels or self.channels, limits, self.clock)

    def cluster(self, name: str, ends: dict[KafkaTopicPartition, int]) -> FakeCluster:
        self.servers[name] = FakeCluster(ends)
        return self.servers[name]

    def batch(self) -> dict[int, list[tuple[Any, ...]]]:
        """The ranges of the next batch by channel, without clients' properties."""
        assigned = self.enumerator.next_batch()
        return {each.channel: [tuple(part[:5]) for part in each.work] for each in assigned if each.work}

    def ranges(self) -> list[tuple[Any, ...]]:
        return sorted(part for parts in self.batch().values() for part in parts)

    def restart(self, channels: int | None = None) -> None:
        position = json.loads(json.dumps(self.enumerator.position()))
        self.enumerator = self.made(channels)
        self.enumerator.restore(position)


def two_clusters(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Reading:
    reading = Reading(monkeypatch, Service({"s": {"east": {"t"}, "west": {"u"}}}), **settings)
    reading.cluster("east", {partition("t", 0): 5, partition("t", 1): 3})
    reading.cluster("west", {partition("u"): 7})
    return reading


def test_partitions_of_all_clusters_are_read_each_by_a_channel_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, channels=3)
    assert reading.batch() == {
        0: [("east", "t", 0, 0, 5)],
        1: [("east", "t", 1, 0, 3)],
        2: [("west", "u", 0, 0, 7)],
    }
    assert reading.batch() == {}
    reading.servers["west"].ends[partition("u")] = 9
    assert reading.ranges() == [("west", "u", 0, 7, 9)]


def test_there_are_as_many_channels_as_partitions_in_all_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    assert two_clusters(monkeypatch).source.channels(1) == 3


def test_clusters_share_the_limits_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, max_records=100)
    reading.servers["east"].ends.update({partition("t", 0): 1000, partition("t", 1): 1000})
    reading.servers["west"].ends[partition("u")] = 10
    dealt = {part[:3]: part[4] - part[3] for part in reading.ranges()}
    assert sum(dealt.values()) <= 100
    dealt = {part[:3]: part[4] - part[3] for part in reading.ranges()}
    assert sum(dealt.values()) == 100 and len(dealt) == 2  # west has no more: its share is for east


def test_a_limit_in_bytes_holds_over_all_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, channels=3)
    reading.servers["east"].ends.update({partition("t", 0): 1000, partition("t", 1): 1000})
    reading.servers["west"].ends[partition("u")] = 1000
    reading.enumerator.limit(BatchLimits(max_bytes=3000, max_records=1000), {0: 10.0, 1: 10.0, 2: 10.0})
    assert 0 < sum(end - start for *_, start, end in reading.ranges()) <= 300


def test_a_cluster_that_appears_later_is_read_from_the_start_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch)
    reading.ranges()
    reading.cluster("north", {partition("v"): 4})
    reading.service.streams["s"]["north"] = {"v"}
    assert reading.ranges() == []  # it is not time to ask yet
    reading.clock.now += LATER
    assert reading.ranges() == [("north", "v", 0, 0, 4)]


def test_a_topic_that_appears_later_in_a_known_cluster_is_read_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading = two_clusters(monkeypatch, start=LATEST)
    assert reading.ranges() == []
    east = reading.servers["east"]
    east.ends[partition("t2")], east.starts[partition("t2")] = 6, 0
    reading.service.streams["s"]["east"].add("t2")
    reading.clock.now += LATER
    assert reading.ranges() == [("east", "t2", 0, 0, 6)]
    east.ends[partition("t", 1)] = 8
    assert reading.ranges() == [("east", "t", 1, 3, 8)]  # what was known goes on where it was


def test_a_removed_cluster_is_read_no_more_and_its_channels_end(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, channels=3)
    reading.ranges()
    del reading.service.streams["s"]["east"]
    reading.servers["east"].ends[partition("t", 0)] = 50
    reading.clock.now += LATER
    assigned = reading.enumerator.next_batch()
    assert [(each.channel, each.work, each.final) for each in assigned] == [(0, None, True), (1, None, True)]
    reading.servers["west"].ends[partition("u")] = 9
    assert reading.batch() == {2: [("west", "u", 0, 7, 9)]}


def test_a_stream_moves_to_another_cluster_on_the_same_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading(monkeypatch, Service({"s": {"east": {"t"}}}), channels=2)
    reading.cluster("east", {partition("t", 0): 5, partition("t", 1): 5})
    reading.ranges()
    reading.cluster("west", {partition("t", 0): 2, partition("t", 1): 3})
    reading.service.streams["s"] = {"west": {"t"}}
    reading.clock.now += LATER
    assigned = reading.enumerator.next_batch()
    assert [(each.channel, each.final) for each in assigned] == [(0, False), (1, False)]
    assert sorted(part[:5] for each in assigned for part in each.work) == [
        ("west", "t", 0, 0, 2),
        ("west", "t", 1, 0, 3),
    ]


def test_a_removed_topic_ends_and_is_read_again_when_it_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading(monkeypatch, Service({"s": {"east": {"t", "u"}}}))
    east = reading.cluster("east", {partition("t"): 5, partition("u"): 5})
    reading.ranges()
    reading.service.streams["s"]["east"].discard("u")
    reading.clock.now += LATER
    east.ends.update({partition("t"): 6, partition("u"): 9})
    assert reading.ranges() == [("east", "t", 0, 5, 6)]
    reading.restart()
    reading.service.streams["s"]["east"].add("u")
    assert reading.ranges() == [("east", "u", 0, 0, 9)]


def test_if_everything_is_removed_a_channel_stays_for_what_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, channels=3)
    reading.ranges()
    streams, reading.service.streams = reading.service.streams, {}
    reading.clock.now += LATER
    assert [each.channel for each in reading.enumerator.next_batch() if each.final] == [1, 2]
    reading.service.streams = streams
    reading.clock.now += LATER
    assert set(reading.batch()) == {0}


@pytest.mark.parametrize("channels", [3, 2])
def test_a_restored_enumerator_assigns_what_the_other_would_have_assigned(
    monkeypatch: pytest.MonkeyPatch, channels: int
) -> None:
    reading = two_clusters(monkeypatch, channels=3, max_records=6)
    before = reading.ranges()
    reading.restart(channels)
    reading.max_records = 1000
    reading.enumerator.limit(BatchLimits(max_records=1000), {0: 1.0, 1: 1.0, 2: 1.0})
    covered: dict[tuple[Any, ...], int] = {}
    for name, topic, number, start, end in [*before, *reading.ranges()]:
        assert covered.get((name, topic, number), 0) == start
        covered[name, topic, number] = end
    assert covered == {("east", "t", 0): 5, ("east", "t", 1): 3, ("west", "u", 0): 7}


def test_what_a_checkpoint_has_of_removed_clusters_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch)
    reading.ranges()
    reading.restart()
    assert set(reading.enumerator.position()["clusters"]) == {"east", "west"}  # nobody has asked the service yet
    del reading.service.streams["s"]["east"]
    reading.ranges()
    assert set(reading.enumerator.position()["clusters"]) == {"west"}


actions = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from("abc"), st.integers(0, 1), st.integers(1, 60)),
        st.tuples(st.just("toggle"), st.sampled_from("abc")),
        st.tuples(st.just("batch")),
        st.tuples(st.just("restart"), st.integers(1, 4)),
    ),
    max_size=25,
)


@given(actions)
def test_no_offset_is_lost_or_repeated_whatever_happens(steps: list[tuple[Any, ...]]) -> None:
    """Clusters are removed and added, jobs restarted: a cluster that is back is read from its beginning, once."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        reading = Reading(monkeypatch, Service({"s": {"a": {"t"}}}), max_records=40)
        clusters = {name: reading.cluster(name, {partition("t", 0): 0, partition("t", 1): 0}) for name in "abc"}
        covered: dict[tuple[str, int], int] = {}

        def take() -> None:
            reading.clock.now += LATER
            for name, _, number, start, end in reading.ranges():
                assert name in reading.service.streams["s"]
                assert covered.get((name, number), 0) == start < end
                covered[name, number] = end
            for key in [key for key in covered if key[0] not in reading.service.streams["s"]]:
                del covered[key]

        for step in steps:
            if step[0] == "write":
                clusters[step[1]].ends[partition("t", step[2])] += step[3]
            elif step[0] == "toggle":
                streams = reading.service.streams["s"]
                if streams.pop(step[1], None) is None:
                    streams[step[1]] = {"t"}
                take()
            elif step[0] == "batch":
                take()
            else:
                reading.restart(step[1])
        for _ in range(60):
            take()
        assert covered == {
            (name, place.partition): end
            for name in reading.service.streams["s"]
            for place, end in clusters[name].ends.items()
            if end
        }


def test_a_bounded_source_ends_at_the_ends_of_all_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, channels=3, stop=LATEST)
    assigned = reading.enumerator.next_batch()
    assert [(each.channel, each.final) for each in assigned] == [(0, True), (1, True), (2, True)]
    reading.servers["west"].ends[partition("u")] = 90
    assert reading.enumerator.next_batch() == []


def test_ranges_for_batch_are_those_of_all_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, stop=LATEST)
    assert sorted(tuple(part[:5]) for part in reading.source.parts()) == [
        ("east", "t", 0, 0, 5),
        ("east", "t", 1, 0, 3),
        ("west", "u", 0, 0, 7),
    ]


def test_a_cluster_may_have_offsets_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(Service):
        def get_all_streams(self) -> Collection[KafkaStream]:
            servers = {"bootstrap.servers": "west:1"}
            west = ClusterMetadata(frozenset({"u"}), servers, KafkaOffsetsInitializer.timestamp(4))
            return [*super().get_all_streams(), KafkaStream("other", {"west": west})]

    reading = Reading(monkeypatch, Own({"s": {"east": {"t"}}}), start=LATEST)
    reading.cluster("east", {partition("t"): 5})
    reading.cluster("west", {partition("u"): 7})
    assert reading.ranges() == [("west", "u", 0, 4, 7)]


def test_held_channels_get_nothing_and_each_other_is_limited_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, channels=3, max_records=4)
    reading.enumerator.align({0})
    assert reading.batch() == {1: [("east", "t", 1, 0, 3)], 2: [("west", "u", 0, 0, 4)]}
    backlog = reading.enumerator.backlog()
    assert backlog.channels == {0: 5, 1: 0, 2: 3}


def test_groups_commit_in_each_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, group="g")
    reading.ranges()
    reading.enumerator.committed()
    assert reading.servers["east"].group == {partition("t", 0): 5, partition("t", 1): 3}
    assert reading.servers["west"].group == {partition("u"): 7}


def test_a_channel_is_described_by_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, channels=2)
    reading.ranges()
    assert [reading.enumerator.describe(channel) for channel in range(2)] == ["east: t-0; west: u-0", "east: t-1"]


def test_a_service_may_fail_as_often_as_the_threshold_says(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    reading = two_clusters(monkeypatch, failure_threshold=1)
    reading.ranges()
    reading.service.away = True
    reading.clock.now += LATER
    reading.servers["west"].ends[partition("u")] = 8
    assert reading.ranges() == [("west", "u", 0, 7, 8)]
    assert "reading goes on" in caplog.text and "hunter2" not in caplog.text
    reading.clock.now += LATER
    with pytest.raises(SourceConnectionError, match="Service does not say where the streams are: RuntimeError"):
        reading.ranges()


def test_a_service_that_fails_at_the_start_fails_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, failure_threshold=5)
    reading.service.away = True
    with pytest.raises(SourceConnectionError, match="does not say where the streams are"):
        reading.ranges()


def test_a_stream_that_there_is_not_is_an_error_that_names_the_closest_one(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, subscriber=KafkaStreamSetSubscriber({"ss"}))
    with pytest.raises(SourceNotFoundError, match="no stream 'ss'") as caught:
        reading.ranges()
    assert "did you mean 's'" in caught.value.describe()


def test_a_stream_subscribed_by_id_may_be_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, subscriber=KafkaStreamSetSubscriber({"s"}))
    reading.ranges()
    reading.service.streams = {}
    reading.clock.now += LATER
    assert reading.ranges() == []


def test_a_topic_that_the_cluster_lacks_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading(monkeypatch, Service({"s": {"east": {"orders"}}}))
    reading.cluster("east", {partition("t"): 5})
    with pytest.raises(SourceNotFoundError, match="no topic 'orders' at .*; create it, or take it from the metadata"):
        reading.ranges()


def test_without_discovery_the_service_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch, discovery_ms=-1)
    for _ in range(3):
        reading.clock.now += LATER
        reading.ranges()
    assert reading.service.questions == 1


def test_messages_are_read_from_the_cluster_of_their_range(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = two_clusters(monkeypatch)
    part = next(part for part in reading.source.parts() if part.cluster == "west")
    messages = [message for block in reading.source.messages(part) for message in block]
    system = reading.source.system
    assert [system.value(message) for message in messages[:2]] == [b"west:1 u-0 0", b"west:1 u-0 1"]
    assert system.read("kafka_cluster", messages[0]) == "west"
    assert system.read("offset", messages[1]) == 1
    assert system.place(messages[1]) == "cluster 'west', topic 'u', partition 0, offset 1"
    assert isinstance(messages[0][1], FakeMessage)


def test_secrets_are_not_in_what_checkpoints_keep_and_tasks_find_them(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service({"s": {"east": {"t"}}}, {"sasl.password": "open-sesame", "client.rack": "r"})
    reading = Reading(monkeypatch, service)
    reading.cluster("east", {partition("t"): 5})
    (assigned,) = reading.enumerator.next_batch()
    (part,) = assigned.work
    assert b"open-sesame" not in pickle.dumps(part)
    assert "open-sesame" not in json.dumps(reading.enumerator.position()) + repr(reading.source) + repr(part)
    seen = []
    monkeypatch.setattr(kafka_topics, "PartitionReader", lambda properties, *place: seen.append(properties))
    with pytest.raises(AttributeError):
        list(reading.source.messages(part))
    assert seen[0].text("sasl.password") == "open-sesame" and seen[0].text("client.rack") == "r"
