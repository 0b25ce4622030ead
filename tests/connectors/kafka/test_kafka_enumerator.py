"""The enumerator deals ranges of offsets, each once, whatever is restarted; against a cluster made of dicts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.connectors.kafka.enumerator import (
    AWAY_SECONDS,
    LARGEST_RECORD,
    POLL_SECONDS,
    EnumeratorSettings,
    KafkaEnumerator,
    shares,
)
from scurry.connectors.kafka.partitions import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Subscription,
)
from scurry.connectors.source import BatchLimits
from scurry.errors import SourceConnectionError, SourceNotFoundError
from support.kafka.fake_cluster import FakeCluster

P0, P1, P2 = (KafkaTopicPartition("t", number) for number in range(3))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += POLL_SECONDS  # every look is one poll interval after the last
        return self.now


def enumerator(
    cluster: FakeCluster,
    start: KafkaOffsetsInitializer | None = None,
    stop: KafkaOffsetsInitializer | None = None,
    subscription: Subscription | None = None,
    clock: Any = None,
    **dealing: Any,
) -> KafkaEnumerator:
    settings: dict[str, Any] = {"channels": 3, "discovery_seconds": None, "patience_seconds": 10.0, "commits": True}
    settings["limits"] = BatchLimits(max_records=dealing.pop("max_records", 100))
    return KafkaEnumerator(
        cluster,
        subscription or Subscription(topics=("t",)),
        start or KafkaOffsetsInitializer.earliest(),
        stop,
        EnumeratorSettings(**{**settings, **dealing}),
        clock or Clock(),
    )


def works(enumerator: KafkaEnumerator) -> dict[int, Any]:
    return {assignment.channel: assignment.work for assignment in enumerator.next_batch() if assignment.work}


def test_each_partition_is_read_up_to_its_end_by_a_channel_of_its_own() -> None:
    assert works(enumerator(FakeCluster({P0: 5, P1: 0, P2: 7}))) == {0: [("t", 0, 0, 5)], 2: [("t", 2, 0, 7)]}


def test_partitions_without_records_are_heard_of_at_once_so_that_they_hold_the_watermark_back() -> None:
    cluster = FakeCluster({P0: 0, P1: 0, P2: 3})
    cluster.slow = True
    source = enumerator(cluster)
    assert [(a.channel, a.work, a.final) for a in source.next_batch()] == [(n, [], False) for n in range(3)]
    cluster.slow = False
    assert [(a.channel, a.work, a.final) for a in source.next_batch()] == [(2, [("t", 2, 0, 3)], False)]


def test_what_comes_later_is_dealt_later() -> None:
    cluster = FakeCluster({P0: 5})
    source = enumerator(cluster)
    works(source)
    assert works(source) == {}
    cluster.ends[P0] = 8
    assert works(source) == {0: [("t", 0, 5, 8)]}


def test_a_batch_takes_no_more_than_its_limit_from_all_partitions_alike() -> None:
    source = enumerator(FakeCluster({P0: 1000, P1: 1000, P2: 10}), max_records=100)
    assert works(source) == {0: [("t", 0, 0, 45)], 1: [("t", 1, 0, 45)], 2: [("t", 2, 0, 10)]}
    assert works(source) == {0: [("t", 0, 45, 95)], 1: [("t", 1, 45, 95)]}


@given(st.lists(st.integers(0, 1000), max_size=20), st.integers(1, 3000))
def test_shares_use_the_budget_and_starve_nobody(lags: list[int], budget: int) -> None:
    dealt = shares(lags, budget)
    busy = sum(1 for lag in lags if lag)
    assert all(0 < share <= lag if lag else share == 0 for share, lag in zip(dealt, lags, strict=True))
    assert min(sum(lags), budget) - busy <= sum(dealt) <= max(budget, busy)


def test_bytes_are_limited_by_the_size_of_the_records_that_were_read_last() -> None:
    source = enumerator(FakeCluster({P0: 1000, P1: 1000}))
    source.limit(BatchLimits(max_bytes=1000, max_records=1000), {0: 10.0, 1: 100.0})
    assert works(source) == {0: [("t", 0, 0, 50)], 1: [("t", 1, 0, 5)]}
    source.limit(BatchLimits(max_bytes=1000, max_records=20), {0: 10.0, 1: 100.0})
    assert works(source) == {0: [("t", 0, 50, 60)], 1: [("t", 1, 5, 14)]}


def test_partitions_that_nothing_was_read_from_are_taken_to_have_the_largest_records() -> None:
    source = enumerator(FakeCluster({P0: 1000, P1: 1000}))
    source.limit(BatchLimits(max_bytes=6 * LARGEST_RECORD, max_records=1000), {})
    assert works(source) == {0: [("t", 0, 0, 3)], 1: [("t", 1, 0, 3)]}


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.floats(0, 5000)), min_size=3, max_size=3),
    st.integers(1, 10**6),
    st.integers(1, 3000),
)
def test_no_batch_exceeds_a_limit_by_more_than_a_record_of_each_partition(
    partitions: list[tuple[int, float]], max_bytes: int, max_records: int
) -> None:
    names, sizes = (P0, P1, P2), [max(1.0, size) for _, size in partitions]
    source = enumerator(FakeCluster({name: end for name, (end, _) in zip(names, partitions, strict=True)}))
    source.limit(BatchLimits(max_bytes, max_records), dict(enumerate(sizes)))
    dealt = {channel: end - start for channel, ((_, _, start, end),) in works(source).items()}
    busy = [channel for channel, (end, _) in enumerate(partitions) if end]
    assert list(dealt) == busy
    assert sum(dealt.values()) <= max(max_records, len(busy))
    assert sum(records * sizes[channel] for channel, records in dealt.items()) <= max_bytes + sum(sizes)
    assert source.backlog().records == sum(end for end, _ in partitions) - sum(dealt.values())


def test_while_there_is_more_than_can_be_dealt_nobody_waits_for_the_ends() -> None:
    cluster = FakeCluster({P0: 250})
    source = enumerator(cluster)
    assert works(source) == {0: [("t", 0, 0, 100)]}
    cluster.slow = True
    assert works(source) == {0: [("t", 0, 100, 200)]}
    assert works(source) == {}  # the rest, and what has come since, with the next answer
    cluster.slow, cluster.ends[P0] = False, 260
    assert works(source) == {0: [("t", 0, 200, 260)]}


def test_partitions_share_channels_if_there_are_more_of_them() -> None:
    source = enumerator(FakeCluster({P0: 1, P1: 2, P2: 3}), channels=2)
    assert works(source) == {0: [("t", 0, 0, 1), ("t", 2, 0, 3)], 1: [("t", 1, 0, 2)]}


@pytest.mark.parametrize("channels", [3, 2])
def test_a_restored_enumerator_deals_what_the_other_would_have_dealt(channels: int) -> None:
    cluster = FakeCluster({P0: 300, P1: 30})
    first = enumerator(cluster, max_records=50)
    dealt = [works(first)]
    position = json.loads(json.dumps(first.position()))
    second = enumerator(cluster, max_records=1000, channels=channels)
    second.restore(position)
    dealt.append(works(second))
    assert dealt == [{0: [("t", 0, 0, 25)], 1: [("t", 1, 0, 25)]}, {0: [("t", 0, 25, 300)], 1: [("t", 1, 25, 30)]}]


def test_a_bounded_source_stops_where_the_partitions_ended_when_it_started() -> None:
    cluster = FakeCluster({P0: 5, P1: 0})
    source = enumerator(cluster, stop=KafkaOffsetsInitializer.latest(), max_records=4)
    first = source.next_batch()
    assert [(a.channel, a.work, a.final) for a in first] == [(0, [("t", 0, 0, 4)], False), (1, None, True),
                                                            (2, None, True)]  # fmt: skip
    cluster.ends[P0] = 9
    assert [(a.channel, a.work, a.final) for a in source.next_batch()] == [(0, [("t", 0, 4, 5)], True)]
    assert source.next_batch() == []


def test_a_stop_in_the_future_is_waited_for() -> None:
    cluster = FakeCluster({P0: 5})
    source = enumerator(cluster, stop=KafkaOffsetsInitializer.offsets({P0: 7}), channels=1)
    assert [a.final for a in source.next_batch()] == [False]
    cluster.ends[P0] = 20
    assert [(a.work, a.final) for a in source.next_batch()] == [([("t", 0, 5, 7)], True)]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (KafkaOffsetsInitializer.earliest(), [("t", 0, 2, 10), ("t", 1, 2, 20)]),
        (KafkaOffsetsInitializer.latest(), []),
        (KafkaOffsetsInitializer.timestamp(15), [("t", 1, 15, 20)]),
        (KafkaOffsetsInitializer.offsets({P0: 7}), [("t", 0, 7, 10), ("t", 1, 2, 20)]),
        (KafkaOffsetsInitializer.offsets({P0: 0, P1: 99}, KafkaOffsetResetStrategy.LATEST), []),
        (KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST),
         [("t", 0, 9, 10), ("t", 1, 2, 20)]),
        (KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.LATEST), [("t", 0, 9, 10)]),
    ],
)  # fmt: skip
def test_where_reading_starts(start: KafkaOffsetsInitializer, expected: list[Any]) -> None:
    cluster = FakeCluster({P0: 10, P1: 20})
    cluster.starts, cluster.group = {P0: 2, P1: 2}, {P0: 9}
    found = works(enumerator(cluster, start))
    assert [work for channel in sorted(found) for work in found[channel]] == expected


def test_without_a_reset_strategy_a_missing_offset_is_an_error_that_names_the_partition() -> None:
    source = enumerator(FakeCluster({P0: 10}), KafkaOffsetsInitializer.committed_offsets())
    with pytest.raises(SourceNotFoundError, match=r"no committed offset in topic 't', partition 0 .* other than NONE"):
        source.next_batch()


def test_new_partitions_are_found_in_time_and_read_from_their_beginning() -> None:
    cluster, clock = FakeCluster({P0: 5}), Clock()
    source = enumerator(cluster, KafkaOffsetsInitializer.latest(), clock=clock, discovery_seconds=60.0)
    assert works(source) == {}
    cluster.ends[P1] = cluster.starts[P1] = 0
    cluster.ends[P1] = 4
    assert works(source) == {}
    clock.now += 60
    assert works(source) == {1: [("t", 1, 0, 4)]}


def test_a_pattern_matches_whole_names_and_waits_for_topics() -> None:
    cluster, clock = FakeCluster({KafkaTopicPartition("orders", 0): 3}), Clock()
    source = enumerator(cluster, subscription=Subscription(pattern="order"), clock=clock, discovery_seconds=60.0)
    assert works(source) == {}
    cluster.ends[KafkaTopicPartition("order", 0)] = cluster.starts[KafkaTopicPartition("order", 0)] = 0
    cluster.ends[KafkaTopicPartition("order", 0)] = 2
    clock.now += 60
    assert works(source) == {0: [("order", 0, 0, 2)]}


def test_a_missing_topic_is_an_error_that_names_the_closest_one() -> None:
    source = enumerator(FakeCluster({P0: 1}), subscription=Subscription(topics=("tt",)))
    with pytest.raises(SourceNotFoundError, match=r"no topic 'tt' at fake:9092; did you mean 't'\?"):
        source.next_batch()


def test_a_missing_partition_is_an_error() -> None:
    source = enumerator(FakeCluster({P0: 1}), subscription=Subscription(partitions=(P2,)))
    with pytest.raises(SourceNotFoundError, match="topic 't' at fake:9092 has no partition 2: it has 1"):
        source.next_batch()


def test_a_cluster_that_is_away_for_a_while_is_waited_for() -> None:
    cluster, clock = FakeCluster({P0: 5}), Clock()
    source = enumerator(cluster, clock=clock)
    works(source)
    cluster.away = True
    assert works(source) == {}
    clock.now += 5
    assert works(source) == {}
    cluster.away, cluster.ends[P0] = False, 6
    clock.now += AWAY_SECONDS
    assert works(source) == {0: [("t", 0, 5, 6)]}


def test_a_cluster_that_stays_away_is_an_error() -> None:
    cluster, clock = FakeCluster({P0: 5}), Clock()
    source = enumerator(cluster, clock=clock)
    works(source)
    cluster.away = True
    works(source)
    clock.now += 11  # longer than the 10 s of patience
    with pytest.raises(SourceConnectionError, match="unreachable"):
        works(source)


def test_a_slow_answer_does_not_hold_up_the_driver_and_is_asked_for_once() -> None:
    cluster = FakeCluster({P0: 5})
    cluster.slow = True
    source = enumerator(cluster)
    assert (works(source), works(source), cluster.questions) == ({}, {}, 1)
    cluster.slow = False
    assert works(source) == {0: [("t", 0, 0, 5)]}


def test_an_idle_source_asks_once_per_interval() -> None:
    cluster = FakeCluster({P0: 0})
    source = enumerator(cluster, clock=lambda: 1.0)
    for _ in range(5):
        assert works(source) == {}
    assert cluster.questions == 1
    assert source.idle_hint() == pytest.approx(POLL_SECONDS)


def test_committed_batches_are_committed_to_the_group() -> None:
    cluster = FakeCluster({P0: 5, P1: 200})
    source = enumerator(cluster)
    works(source)
    assert cluster.group == {}
    source.committed()
    assert cluster.group == {P0: 5, P1: 95}


def test_a_source_that_commits_nothing_leaves_the_group_alone() -> None:
    cluster = FakeCluster({P0: 5})
    source = enumerator(cluster, commits=False)
    works(source)
    source.committed()
    assert cluster.group == {}
