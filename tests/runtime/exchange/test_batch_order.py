"""The order in which an operator in BATCH receives records: by key, those of a key by time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.graph import operators as ops
from scurry.graph.plan import Edge, JobPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.exchange import key_blocks, key_records, ordering
from scurry.runtime.exchange.key_blocks import BatchHashWriter
from scurry.runtime.exchange.key_records import KeyRecords, LargeKey, in_time_order, records_by_key
from scurry.runtime.exchange.wire import DATA, MAX_TIME, MIN_TIME, BatchRow, pack
from scurry.runtime.keys import KeyOrder, key_hash, subtask_of
from scurry.runtime.tasks.batch_task import sort_key
from support.cases import cases

PLAN = JobPlan(JobSettings("job", 1), edges={port: Edge(port, 9, port, ops.Rebalance()) for port in (0, 1)})
TIMES = st.integers(0, 30) | st.sampled_from([MIN_TIME, MAX_TIME])
ROWS = st.lists(st.tuples(st.sampled_from([0, 1]), st.lists(TIMES, min_size=1, max_size=6).map(sorted)), max_size=6)


def rows_of(spec: list[tuple[int, list[int]]]) -> list[BatchRow]:
    rows = []
    for seq, (port, times) in enumerate(spec):
        block = pack((None, [(seq, i) for i in range(len(times))], times, 0))
        rows.append(BatchRow(0, port, DATA, 1, seq, block, 9, b"", times[0]))
    return sorted(rows, key=sort_key)


@settings(max_examples=cases(150), deadline=None)
@given(ROWS)
def test_records_without_keys_come_in_time_order_with_ties_in_order_of_arrival(
    spec: list[tuple[int, list[int]]],
) -> None:
    records = [(time, seq, i, port) for seq, (port, times) in enumerate(spec) for i, time in enumerate(times)]
    merged: list[Any] = []
    for port, values, times in in_time_order(rows_of(spec), PLAN):
        assert times is not None and len(times) == len(values) > 0
        merged += [(time, *value, port) for time, value in zip(times, values, strict=True)]
    assert sorted(merged) == sorted(records)
    assert [time for time, *_ in merged] == sorted(time for time, *_ in records)
    for seq, (_, times) in enumerate(spec):
        assert [i for _, of, i, _ in merged if of == seq] == list(range(len(times)))


def test_rows_that_do_not_overlap_stay_whole() -> None:
    spec = [(0, [1, 2, 3]), (1, [4, 5]), (0, [6])]
    assert [times for _, _, times in in_time_order(rows_of(spec), PLAN)] == [[1, 2, 3], [4, 5], [6]]


def test_records_without_timestamps_keep_their_order() -> None:
    rows = [BatchRow(0, 0, DATA, 1, seq, pack((None, [seq], None, 0)), 9, b"", MIN_TIME) for seq in range(3)]
    assert [values for _, values, _ in in_time_order(rows, PLAN)] == [[0], [1], [2]]


# ------------------------------------------------------------------ records with keys

#: key, time or None, port
Keyed = tuple[Any, int | None, int]

KEYS = st.sampled_from(
    ["a", "b", "é", "\ud800", "", 0, 1, -1, 300, -70_000, 2**70, -(2**70), True, 1.0, None, (1, "a")]
)
FLUSHES = st.lists(
    st.tuples(st.booleans(), st.lists(st.tuples(KEYS, TIMES, st.sampled_from([0, 1])), max_size=30)), max_size=6
)


@pytest.fixture(params=["few", "many", "large keys"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param != "few":
        monkeypatch.setattr(ordering, "_MANY", 2)
        monkeypatch.setattr(key_blocks, "_LEAST_RECORDS", 2)
        monkeypatch.setattr(key_blocks, "_MOST_RECORDS", 4)
        monkeypatch.setattr(key_records, "_WAITING_RECORDS", 3)
        monkeypatch.setattr(key_records, "_MADE_RECORDS", 2)
    if request.param == "large keys":
        monkeypatch.setattr(key_records, "_AT_ONCE_BYTES", 1)
    yield


def rows_with_keys(flushes: list[tuple[bool, list[Keyed]]], by_group: bool) -> list[BatchRow]:
    """Return the rows of two senders on two edges; a record is (port, number of its flush, its place, its key)."""
    rows: list[BatchRow] = []
    writers = [
        BatchHashWriter(
            Edge(port, 9, port, ops.Hash(lambda record: record[3]), parallelism=2), [0, 1], channel, 0, None
        )
        for port, channel in ((0, 1), (1, 2))
    ]
    for seq, (timed, records) in enumerate(flushes):
        for port, writer in enumerate(writers):
            own = [(port, seq, i, key) for i, (key, _, of) in enumerate(records) if of == port]
            times = [time for _, time, of in records if of == port]
            if own:
                writer.process(own, times if timed else None)  # type: ignore[arg-type]
            rows += writer.flush_by_key(seq, in_time_order=True, by_group=by_group)
    return sorted(rows, key=sort_key)


def keys_of(records: Iterable[KeyRecords | LargeKey]) -> Iterator[tuple[Any, Iterable[Any]]]:
    for some in records:
        if isinstance(some, LargeKey):
            yield some.key, some.parts
        else:
            yield from ((key, some.parts_of(number)) for number, key in enumerate(some.keys))


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("by_group", [False, True])
def test_records_come_key_by_key_in_time_order_and_those_of_a_sender_in_their_order(by_group: bool) -> None:
    @settings(max_examples=cases(150), deadline=None)
    @given(FLUSHES)
    def check(flushes: list[tuple[bool, list[Keyed]]]) -> None:
        expected = [
            (port, seq, i, key, time if timed else None)
            for seq, (timed, records) in enumerate(flushes)
            for i, (key, time, port) in enumerate(records)
        ]
        order = KeyOrder(128 if by_group else None)
        found: list[Any] = []
        for subtask, rows in groupby(rows_with_keys(flushes, by_group), key=attrgetter("subtask")):
            keys: list[Any] = []
            for key, parts in keys_of(records_by_key(rows, PLAN, order)):
                keys.append(key)
                last = MIN_TIME
                for port, values, times in parts:
                    assert values and {value[0] for value in values} == {port}
                    for value, time in zip(values, times or [None] * len(values), strict=True):
                        assert last <= (MIN_TIME if time is None else time)
                        last = MIN_TIME if time is None else time
                        found.append((*value, time))
            assert [order.bytes_of(key) for key in keys] == sorted({order.bytes_of(key) for key in keys})
            assert {subtask_of(key_hash(key), 128, 2) for key in keys} == {subtask}
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
        same: dict[Any, list[Any]] = {}
        for port, seq, place, key, time in found:
            same.setdefault((port, type(key), key, time), []).append((seq, place))
        assert all(places == sorted(places) for places in same.values())

    check()


@settings(max_examples=cases(150), deadline=None)
@given(st.lists(st.integers() | st.integers(-300, 300) | st.sampled_from([2**1016, -(2**1016), 2**2000, -(2**2000)])))
def test_ints_are_ordered_as_their_bytes(numbers: list[int]) -> None:
    order = KeyOrder()
    assert sorted(numbers) == sorted(numbers, key=order.bytes_of) == order.sort(numbers)
    assert len(set(map(order.bytes_of, numbers))) == len(set(numbers))


@settings(max_examples=cases(150), deadline=None)
@given(st.lists(st.text() | st.sampled_from(["\ud800", "\udfff", "\uffff", "\U00010000"])))
def test_texts_are_ordered_as_their_bytes(texts: list[str]) -> None:
    assert KeyOrder().sort(texts) == sorted(texts, key=KeyOrder().bytes_of)


@settings(max_examples=cases(100), deadline=None)
@given(
    st.integers(-(2**63), 2**63 - 1 - 3000),
    st.sampled_from([1, 10, 3000]) | st.integers(1, 3000),
    st.lists(st.integers(0, 3000), min_size=256, max_size=600),
    st.booleans(),
)
def test_ints_near_to_one_another_are_numbered_as_those_far_apart(
    first: int, within: int, offsets: list[int], far: bool
) -> None:
    some = [first + offset % within for offset in offsets] + ([MIN_TIME, MAX_TIME] if far else [])
    keys = ordering.RecordKeys()
    for start in range(0, len(some), 100):
        keys.add(some[start : start + 100])
    numbers, numbered = keys.numbered()
    assert sorted(numbers) == sorted(set(some)) and sorted(numbers.values()) == list(range(len(numbers)))
    assert [numbers[key] for key in some] == numbered.tolist()
