"""Joins of random records, on every runner, against the pairs that plain Python finds.

Watermarks trail by more than the records are out of order, so nothing is late.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.common.time import Duration
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.connectors import collection
from scurry.datastream import DataStream, ProcessJoinFunction, StreamExecutionEnvironment
from scurry.datastream.window import (
    CountEvictor,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from support.cases import cases
from support.runners import Runner


class Record(NamedTuple):
    key: str
    number: int
    time: int


Records = list[Record]


class ByTime(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value.time)


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        assert ctx.get_timestamp() == max(left.time, right.time)
        yield left.number, right.number


def by_key(record: Record) -> str:
    return record.key


def joins(env: StreamExecutionEnvironment, left: Records, right: Records) -> dict[str, DataStream]:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(500))
    first, second = (
        env.from_collection(records).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(ByTime()))
        for records in (left, right)
    )

    def pairs(windows: Any) -> DataStream:
        joined = first.join(second).where(by_key).equal_to(by_key).window(windows)
        return joined.apply(lambda one, two: (one.number, two.number))

    groups = first.co_group(second).where(by_key).equal_to(by_key).window(TumblingEventTimeWindows.of(20))
    interval = first.key_by(by_key).interval_join(second.key_by(by_key)).between(-7, 11).upper_bound_exclusive()
    evicted = first.key_by(by_key).window(TumblingEventTimeWindows.of(20)).evictor(CountEvictor.of(2))
    return {
        "tumbling": pairs(TumblingEventTimeWindows.of(20)),
        "sliding": pairs(SlidingEventTimeWindows.of(20, 10)),
        "session": pairs(EventTimeSessionWindows.with_gap(5)),
        "co_group": groups.apply(lambda ones, twos: [(len(list(ones)), len(list(twos)))]),
        "interval": interval.process(Pair()),
        "evicted": evicted.reduce(lambda one, two: one._replace(number=0)).map(lambda record: record.key),
    }


def sessions(records: Records, gap: int) -> dict[Record, tuple[str, int]]:
    """The session of each record."""
    found: dict[Record, tuple[str, int]] = {}
    previous = None
    for record in sorted(records, key=lambda record: (record.key, record.time)):
        joins = previous and record.key == previous.key and record.time <= previous.time + gap
        found[record] = found[previous] if previous and joins else (record.key, record.time)
        previous = record
    return found


def expected(left: Records, right: Records) -> dict[str, list[Any]]:
    both = [(one, two) for one in left for two in right if one.key == two.key]
    session = sessions([*left, *right], 5)
    windows: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for side, records in enumerate((left, right)):
        for record in records:
            windows[record.key, record.time // 20][side] += 1
    found: dict[str, list[Any]] = {
        "tumbling": [(one.number, two.number) for one, two in both if one.time // 20 == two.time // 20],
        "sliding": [
            (one.number, two.number)
            for one, two in both
            for start in range(-20, 200, 10)
            if all(start <= record.time < start + 20 for record in (one, two))
        ],
        "session": [(one.number, two.number) for one, two in both if session[one] == session[two]],
        "co_group": [tuple(counts) for counts in windows.values()],
        "interval": [(one.number, two.number) for one, two in both if -7 <= two.time - one.time < 11],
        "evicted": [key for (key, _), (ones, _) in windows.items() if ones],
    }
    return {name: sorted(results) for name, results in found.items()}


RECORDS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 120)), max_size=15).map(
    lambda drawn: [Record(key, number, time) for number, (key, time) in enumerate(drawn)]
)
LOCAL = [Runner("local", "STREAMING"), Runner("local", "BATCH")]


def apart(records: Records) -> Records:
    """Records that equal none of the other stream."""
    return [record._replace(number=record.number + 100) for record in records]


@pytest.mark.parametrize("runner", LOCAL, ids=lambda runner: runner.mode)
@settings(max_examples=cases(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS, RECORDS.map(apart), st.sampled_from([1, 2, 4]), st.sampled_from([0, 10_000]))
def test_joins_find_the_pairs_that_plain_python_finds(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, left: Records, right: Records, parallelism: int, channel: int
) -> None:
    monkeypatch.setattr(collection, "SINGLE_CHANNEL_ELEMENTS", channel)
    results = runner.run(lambda env: joins(env, left, right), parallelism)
    assert {name: sorted(found) for name, found in results.items()} == expected(left, right)


SOME = [Record("abc"[n * 5 % 3], n, n * 37 % 120) for n in range(40)]
OTHERS = apart([Record("abd"[n * 2 % 3], n, n * 29 % 120) for n in range(40)])


def test_joins_give_the_same_on_every_runner(runner: Runner) -> None:
    results = runner.run(lambda env: joins(env, SOME, OTHERS), parallelism=2)
    assert {name: sorted(found) for name, found in results.items()} == expected(SOME, OTHERS)
