from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Types
from scurry.errors import OperatorError
from scurry.graph import operators as ops
from scurry.graph.nodes import Origin
from scurry.graph.plan import Edge, OperatorPlan
from scurry.runtime.exchange.record_columns import TakenApart, unpack_records
from scurry.runtime.exchange.wire import DATA, MIN_TIME, PROGRESS, unpack
from scurry.runtime.exchange.writers import HashWriter, Receivers, RecordWriter, edge_writer
from scurry.runtime.keys import key_hash, original_key
from scurry.runtime.tasks.batch_task import sort_key
from support.cases import cases

SENDER = OperatorPlan(4, "4-Map", "Map", ops.Map(None), None, 2, Origin("job.py", 7))
CHANNEL = 4 << 16


def writer(partitioner: ops.Partitioner, parallelism: int = 3, subtask: int = 0, progress: bool = True) -> RecordWriter:
    edge = Edge(5, 8, 0, partitioner, 1, parallelism, 16, progress)
    return edge_writer(edge, list(range(parallelism)), CHANNEL, subtask, SENDER)


def by_receiver(writer: RecordWriter) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for row in writer.flush(1, 0):
        found.setdefault(row.subtask, []).extend(unpack(row.block)[1])
    return found


class Text(str):
    """A string of a class of its own."""


class TestPartitioners:
    @pytest.mark.parametrize("parallelism", [1, 2, 3, 4, 8])  # few receivers select their records, many do not
    @pytest.mark.parametrize("timed", [False, True])
    def test_hash_sends_a_key_to_the_subtask_of_its_key_group(self, parallelism: int, timed: bool) -> None:
        hashing = writer(ops.Hash(lambda word: word), parallelism)
        words = [f"word {n % 40}" for n in range(50)]
        for block in (range(20), range(20, 50)):
            hashing.process([words[n] for n in block], list(block) if timed else None)
        found = {row.subtask: unpack(row.block) for row in hashing.flush(1, 0)}
        for subtask in range(parallelism):
            mine = [n for n, word in enumerate(words) if key_hash(word) % 16 * parallelism // 16 == subtask]
            sent = [words[n] for n in mine]
            assert found[subtask] == (sent, sent, mine if timed else None, 0)

    def test_hash_sends_the_keys_along(self) -> None:
        hashing = writer(ops.Hash(lambda pair: pair[0]))
        hashing.process([("k", 1), ("k", 2)], [10, 20])
        (row,) = hashing.flush(3, 99)
        assert unpack(row.block) == (["k", "k"], [("k", 1), ("k", 2)], [10, 20], 99)
        assert (row.port, row.kind, row.channel, row.seq) == (5, DATA, CHANNEL, 3)

    def test_hash_converts_keys_to_their_declared_type(self) -> None:
        hashing = writer(ops.Hash(lambda value: value, Types.DOUBLE()))
        hashing.process([1, 1.0], None)
        assert list(by_receiver(hashing).values()) == [[1, 1.0]]

    @pytest.mark.parametrize("declared", [Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG(), Types.STRING()])
    def test_hash_sends_canonical_keys_of_every_type_that_is_its_own_form(self, declared: Any) -> None:
        given: list[Any] = [Text("a"), "b"] if declared == Types.STRING() else [True, 2.5, 3]
        canonical = ["a", "b"] if declared == Types.STRING() else [1, 2, 3]
        hashing = writer(ops.Hash(lambda value: value, declared), 1)
        hashing.process(given, None)
        (row,) = hashing.flush(1, 0)
        keys = unpack(row.block)[0]
        assert keys == canonical and {type(key) for key in keys} == {type(canonical[0])}

    def test_none_is_a_key_of_every_declared_type(self) -> None:
        hashing = writer(ops.Hash(lambda value: value, Types.LONG()), 1)
        hashing.process([1, None, 2.5], None)
        (row,) = hashing.flush(1, 0)
        assert [original_key(key) for key in unpack(row.block)[0]] == [1, None, 2]

    def test_rebalance_deals_records_one_by_one_starting_at_the_own_subtask(self) -> None:
        dealing = writer(ops.Rebalance(), subtask=1)
        dealing.process([10, 11, 12, 13], None)
        assert by_receiver(dealing) == {0: [12], 1: [10, 13], 2: [11]}

    def test_rebalance_goes_on_where_it_stopped(self) -> None:
        dealing = writer(ops.Rebalance())
        for value in range(6):
            dealing.process([value], None)
        assert by_receiver(dealing) == {0: [0, 3], 1: [1, 4], 2: [2, 5]}

    def test_forward_stays_with_the_subtask(self) -> None:
        forwarding = writer(ops.Forward(), subtask=2)
        forwarding.process([1, 2], None)
        assert by_receiver(forwarding) == {2: [1, 2]}

    def test_global_sends_everything_to_the_first_subtask(self) -> None:
        everything = writer(ops.Global(), subtask=2)
        everything.process([1, 2], None)
        assert by_receiver(everything) == {0: [1, 2]}

    def test_broadcast_sends_everything_to_everyone(self) -> None:
        broadcasting = writer(ops.Broadcast())
        broadcasting.process([1, 2], [5, 6])
        assert by_receiver(broadcasting) == {0: [1, 2], 1: [1, 2], 2: [1, 2]}

    def test_custom_asks_the_partitioner(self) -> None:
        custom = writer(ops.Custom(lambda key, count: key % count, lambda pair: pair[0]))
        custom.process([(0, "a"), (4, "b")], None)
        assert by_receiver(custom) == {0: [(0, "a")], 1: [(4, "b")]}


class TestFailures:
    def test_a_failing_key_selector_names_the_record(self) -> None:
        with pytest.raises(OperatorError) as failure:
            writer(ops.Hash(lambda pair: pair[0])).process([("a",), (), ("b",)], None)
        assert failure.value.failure.record == "()"
        assert "key selector" in str(failure.value)

    def test_a_key_of_another_type_beside_none_names_its_record(self) -> None:
        with pytest.raises(OperatorError) as failure:
            writer(ops.Hash(lambda pair: pair[0], Types.LONG())).process([(None, 0), (1, 1), ("a", 2)], None)
        assert failure.value.failure.record == "('a', 2)"

    def test_a_key_of_another_type_than_declared_names_the_record(self) -> None:
        with pytest.raises(OperatorError, match="key_type") as failure:
            writer(ops.Hash(lambda pair: pair[0], Types.INT())).process([(1,), ("b",)], None)
        assert failure.value.failure.record == "('b',)"

    def test_a_key_that_cannot_be_encoded_names_the_record(self) -> None:
        with pytest.raises(OperatorError, match="cannot be a key") as failure:
            writer(ops.Hash(lambda value: (lambda: 0) if value == 2 else value)).process([1, 2], None)
        assert failure.value.failure.record == "2"

    def test_a_record_that_cannot_be_pickled_is_named(self) -> None:
        dealing = writer(ops.Rebalance())
        function = lambda: 0  # noqa: E731
        dealing.process([1, function], None)
        with pytest.raises(OperatorError, match="picklable") as failure:
            dealing.flush(1, 0)
        assert failure.value.failure.record == repr(function)

    @pytest.mark.parametrize("target", [3, -1])
    def test_a_partitioner_must_name_an_existing_subtask(self, target: int) -> None:
        with pytest.raises(OperatorError, match=rf"partition\(\) returned {target}, not one of 0..2"):
            writer(ops.Custom(lambda key, count: target, lambda value: value)).process([1], None)


class TestProgress:
    def test_points_go_to_every_receiver(self) -> None:
        rebalancing = writer(ops.Rebalance())
        rebalancing.process([1], [10])
        rebalancing.watermark(9)
        rebalancing.point(1, 100)
        rebalancing.point(2, 200)
        rows = rebalancing.progress()
        assert [(row.subtask, row.kind) for row in rows] == [(0, PROGRESS), (1, PROGRESS), (2, PROGRESS)]
        assert {row.block for row in rows} == {rows[0].block}
        assert unpack(rows[0].block) == [(1, 9, 100, True), (2, 9, 200, False)]

    def test_nobody_who_does_not_need_the_time_is_told(self) -> None:
        rebalancing = writer(ops.Rebalance(), progress=False)
        rebalancing.point(1, 100)
        assert rebalancing.progress() == []

    def test_the_watermark_never_falls(self) -> None:
        rebalancing = writer(ops.Rebalance())
        rebalancing.watermark(9)
        rebalancing.watermark(3)
        rebalancing.point(1, 0)
        assert unpack(rebalancing.progress()[0].block)[0][1] == 9

    def test_a_batch_that_is_repeated_sends_the_same(self) -> None:
        hashing = writer(ops.Hash(lambda value: value))

        def batch() -> list[Any]:
            hashing.begin()
            hashing.process(["a", "b"], [1, 2])
            hashing.watermark(1)
            hashing.point(1, 0)
            return [*hashing.flush(1, 0), *hashing.progress()]

        first = batch()
        hashing.process(["c"], [3])  # the try that failed
        hashing.watermark(100)
        assert batch() == first

    def test_before_any_watermark_there_is_the_lowest(self) -> None:
        rebalancing = writer(ops.Rebalance())
        rebalancing.point(1, 0)
        assert unpack(rebalancing.progress()[0].block) == [(1, MIN_TIME, 0, False)]


BLOCKS = st.lists(st.tuples(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.booleans()), max_size=6)
PARTITIONERS: list[ops.Partitioner] = [
    ops.Hash(lambda value: value % 4), ops.Rebalance(), ops.Forward(), ops.Global(),
    ops.Custom(lambda key, count: key % count, lambda value: value),
]  # fmt: skip


@pytest.mark.parametrize("partitioner", PARTITIONERS, ids=lambda partitioner: type(partitioner).__name__)
@settings(max_examples=cases(30), deadline=None)
@given(BLOCKS)
def test_every_record_arrives_once_with_its_own_timestamp_in_order(partitioner: ops.Partitioner, sent: Any) -> None:
    subject = writer(partitioner)
    expected: list[tuple[int, int | None]] = []
    for values, timed in sent:
        times = [value * 10 for value in values] if timed else None
        subject.process(values, times)
        expected += [(value, value * 10 if timed else None) for value in values]
    by_receiver: dict[int, list[tuple[int, int | None]]] = {}
    for row in subject.flush(1, 0):
        keys, values, times, _ = unpack(row.block)
        assert (keys is not None) == isinstance(partitioner, ops.Hash)
        some = by_receiver.setdefault(row.subtask, [])
        some += [(value, times[i] if times else None) for i, value in enumerate(values)]
    assert sorted(map(repr, expected)) == sorted(repr(item) for some in by_receiver.values() for item in some)
    for some in by_receiver.values():  # a record's equals are indistinguishable, so a subsequence is all order can mean
        rest = iter(expected)
        assert all(item in rest for item in some)
    assert subject.flush(2, 0) == []


def test_batch_rows_of_a_broadcast_come_before_the_rest_in_the_order_they_were_sent() -> None:
    rows = []
    for partitioner in (ops.Rebalance(), ops.Broadcast()):
        sending = writer(partitioner, parallelism=1)
        for seq, (value, time) in enumerate([("late", 9), ("early", -3)]):
            sending.process([value], [time])
            rows += sending.flush_by_key(seq, in_time_order=False)
    found = [unpack(row.block)[1] for row in sorted(rows, key=sort_key)]
    assert found == [["late"], ["early"], ["late"], ["early"]]
    assert [row.time < 0 for row in sorted(rows, key=sort_key)] == [True, True, False, False]


def test_a_block_of_new_keys_costs_nothing_for_the_keys_that_are_known() -> None:
    class Watched(Receivers):
        def __iter__(self) -> Iterator[Any]:
            raise AssertionError("all known keys are gone through")

    receivers, one_by_one = Watched(3, 128), Receivers(3, 128)
    for first in range(0, 5_000, 500):  # from the second block on, new keys are hashed together
        keys = [*range(first, first + 500), first]
        assert list(receivers.of(keys)) == [one_by_one[key] for key in keys]


#: Types of fields, and values of them.
FIELDS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (Types.LONG(), st.integers(-(2**63), 2**63 - 1)),
    (Types.INT(), st.integers(-(2**31), 2**31 - 1)),
    (Types.DOUBLE(), st.floats()),
    (Types.STRING(), st.text(max_size=3)),
    (Types.BOOLEAN(), st.booleans()),
    (Types.BIG_INT(), st.integers()),
    (Types.TUPLE([Types.LONG()]), st.tuples(st.integers(-9, 9))),
]


class TestFields:
    """Records of declared tuples travel by key in columns."""

    @settings(max_examples=cases(60), deadline=None)
    @given(st.data())
    def test_what_is_received_is_what_was_sent(self, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=4))
        declared = Types.TUPLE([kind for kind, _ in chosen])
        by, key_type = data.draw(st.sampled_from([(lambda r: r[0], chosen[0][0]), (lambda r: str(r), Types.STRING())]))
        blocks = data.draw(st.lists(st.lists(st.tuples(*[each for _, each in chosen]), min_size=1, max_size=6)))
        timed, count = data.draw(st.booleans()), data.draw(st.integers(1, 5))
        sent, as_records = writer(ops.Hash(by, key_type), count), writer(ops.Hash(by, key_type), count)
        taken_apart = TakenApart()
        assert isinstance(sent, HashWriter)
        sent.send_fields(declared, taken_apart)
        convert = taken_apart.converter(declared, packs=False)
        for block in blocks:
            times = [2**40 + place for place in range(len(block))] if timed else None
            if data.draw(st.booleans()):
                block = convert(block)  # noqa: PLW2901
            sent.process(block, times)
            as_records.process(block, times)
        found, expected = sent.flush(1, 7), as_records.flush(1, 7)
        assert [row[:5] for row in found] == [row[:5] for row in expected]
        for one, other in zip(found, expected, strict=True):
            assert repr(unpack_records(one.block)) == repr(unpack(other.block))
            assert repr(unpack_records(other.block)) == repr(unpack(other.block))

    def test_a_writer_of_records_of_two_types_sends_them_as_they_are(self) -> None:
        hashing = writer(ops.Hash(lambda r: r[0], Types.LONG()), 1)
        assert isinstance(hashing, HashWriter)
        hashing.send_fields(Types.TUPLE([Types.LONG(), Types.LONG()]), TakenApart())
        hashing.send_records()
        hashing.process([(1, "a"), (2, [3])], None)
        (row,) = hashing.flush(1, 0)
        assert unpack(row.block) == ([1, 2], [(1, "a"), (2, [3])], None, 0)

    def test_records_with_and_without_times_travel_in_blocks_of_their_own(self) -> None:
        hashing = writer(ops.Hash(lambda r: r[0], Types.LONG()), 2)
        assert isinstance(hashing, HashWriter)
        hashing.send_fields(Types.TUPLE([Types.LONG(), Types.STRING()]), TakenApart())
        hashing.process([(1, "a")], None)
        hashing.process([(1, "b"), (1, "c")], [5, -6])
        found = [unpack_records(row.block) for row in hashing.flush(1, 0)]
        assert found == [([1], [(1, "a")], None, 0), ([1, 1], [(1, "b"), (1, "c")], [5, -6], 0)]
