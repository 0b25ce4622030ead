"""Records of BATCH that are exchanged in columns: they arrive as they were sent, whatever their fields are."""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterator
from itertools import groupby, repeat
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Types
from scurry.errors import OperatorError, TypeMismatchError
from scurry.graph import operators as ops
from scurry.graph.nodes import Origin
from scurry.graph.plan import Edge, JobPlan, OperatorPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.exchange import key_blocks, key_records, ordering
from scurry.runtime.exchange.key_blocks import BatchHashWriter, unpack_block
from scurry.runtime.exchange.key_records import LargeKey, records_by_key
from scurry.runtime.exchange.record_columns import FLOAT, INT, KEY, OBJECT, TIME, RecordColumns, TakenApart, columns_of
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME, BatchRow
from scurry.runtime.keys import KeyOrder
from scurry.runtime.tasks.batch_task import sort_key
from support.cases import cases

PLAN = JobPlan(JobSettings("job", 1), edges={0: Edge(0, 9, 0, ops.Rebalance())})

TIMES = st.integers(0, 5) | st.sampled_from([MIN_TIME, MAX_TIME])
FIELDS = {
    "key": st.just("key"),
    "time": st.just("time"),
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False) | st.sampled_from([float("inf"), -0.0]),
    "text": st.text(max_size=3),
    "any": st.sampled_from([None, True, False, 1, 1.0, 2**63, -(2**63) - 1, "x", b"y", (1, "a"), [2]]),
}
SHAPES = st.lists(st.sampled_from([*FIELDS, "key", "int"]), min_size=1, max_size=4)
KEYS = st.sampled_from(["a", "b", "c", 0, -5, 2**70, True, 1.0, None, b"k", (1, "a")])


def record_of(shape: list[str]) -> st.SearchStrategy[tuple[Any, int, tuple[Any, ...]]]:
    """Return key, time and fields of a record of a shape."""

    def filled(drawn: tuple[Any, int, list[Any]]) -> tuple[Any, int, tuple[Any, ...]]:
        key, time, fields = drawn
        own = {"key": key, "time": time}
        found = (own.get(name, field) for name, field in zip(shape, fields, strict=True))
        return key, time, tuple(found)

    return st.tuples(KEYS, TIMES, st.tuples(*map(FIELDS.__getitem__, shape)).map(list)).map(filled)


#: Blocks of a few shapes in turn; in each, all records have times or none has.
BLOCKS = st.lists(
    SHAPES.flatmap(lambda shape: st.tuples(st.booleans(), st.lists(record_of(shape), min_size=1, max_size=12))),
    min_size=1,
    max_size=5,
)


class Sender:
    """A writer whose records have the keys that it is told."""

    def __init__(self) -> None:
        self.keys: Iterator[Any] = iter(())
        partitioner = ops.Hash(lambda record: next(self.keys))
        self.writer = BatchHashWriter(Edge(0, 9, 0, partitioner, parallelism=2), [0, 1], 1, 0, None)

    def send(self, keys: list[Any], values: list[Any], times: list[int] | None) -> None:
        self.keys = iter(keys)
        self.writer.process(values, times)

    def rows(self, seq: int) -> list[BatchRow]:
        return sorted(self.writer.flush_by_key(seq, in_time_order=True), key=sort_key)


def received(rows: list[BatchRow]) -> list[tuple[Any, Any]]:
    """Return the records of all subtasks with their times."""
    found: list[tuple[Any, Any]] = []
    for _, some in groupby(rows, key=attrgetter("subtask")):
        for records in records_by_key(some, PLAN, KeyOrder()):
            if isinstance(records, LargeKey):
                parts = list(records.parts)
            else:
                parts = [part for number in range(len(records.keys)) for part in records.parts_of(number)]
            for _, values, times in parts:
                found += zip(values, repeat(None) if times is None else times, strict=False)
    return found


@pytest.fixture(params=["few", "many", "large keys"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "few":
        monkeypatch.setattr(ordering, "_MANY", 2)
        monkeypatch.setattr(key_blocks, "_LEAST_RECORDS", 2)
        monkeypatch.setattr(key_blocks, "_MOST_RECORDS", 4)
        monkeypatch.setattr(key_records, "_WAITING_RECORDS", 3)
        monkeypatch.setattr(key_records, "_MADE_RECORDS", 2)
    if request.param == "large keys":
        monkeypatch.setattr(key_records, "_AT_ONCE_BYTES", 1)


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("flushes", [True, False], ids=["a flush for each block", "one flush"])
def test_records_of_changing_shapes_arrive_as_they_were_sent(flushes: bool) -> None:
    @settings(max_examples=cases(200), deadline=None)
    @given(BLOCKS)
    def check(blocks: list[tuple[bool, list[tuple[Any, int, tuple[Any, ...]]]]]) -> None:
        sender, rows, sent = Sender(), [], []
        for seq, (timed, some) in enumerate(blocks):
            sender.send(
                [key for key, _, _ in some], [value for *_, value in some], [at for _, at, _ in some] if timed else None
            )
            sent += [(value, time if timed else None) for _, time, value in some]
            if flushes:
                rows += sender.rows(seq)
        rows += sender.rows(len(blocks))
        found = received(sorted(rows, key=sort_key))
        assert sorted(map(repr, found)) == sorted(map(repr, sent))

    check()


@pytest.mark.usefixtures("limits")
def test_records_of_a_key_and_time_keep_their_order_when_their_columns_change() -> None:
    sender = Sender()
    blocks: list[list[Any]] = [
        [("k", 0, 1)],
        [("k", 1, 2**70)],
        [("k", 2, "x"), ("k", 3, 5)],
        [("k", 4)],
        [("k", 5, 1)],
    ]
    for some in blocks:
        sender.send(["k"] * len(some), some, [7] * len(some))
    assert [value[1] for value, _ in received(sender.rows(1))] == [0, 1, 2, 3, 4, 5]


def test_keys_and_times_are_not_sent_and_numbers_are_arrays() -> None:
    keys, times = ["a", "b"], [2**40, 2**41]
    values = [(key, time, 1, 0.5, "x") for key, time in zip(keys, times, strict=True)]
    columns = columns_of(values, keys, array("q", times), None)
    assert columns is not None and columns.kinds == (KEY, TIME, INT, FLOAT, OBJECT)
    assert columns.fields[:2] == [None, None] and [each.typecode for each in columns.fields[2:4]] == ["q", "d"]


@pytest.mark.parametrize(
    "values", [[("a", 1), ["b", 2]], [("a", 1), ("b",)], [("x", "y", "a"), ("z", "w", "b")], ["a", "b"], [(), ()]]
)
def test_records_that_columns_do_not_pay_for_are_sent_as_they_are(values: list[Any]) -> None:
    sender = Sender()
    sender.send([0, 1], values, None)
    rows = sender.rows(1)
    assert not any(isinstance(unpack_block(row.block)[1], RecordColumns) for row in rows)
    assert sorted((value for value, _ in received(rows)), key=repr) == sorted(values, key=repr)


@pytest.mark.parametrize("declared", [Types.LONG(), Types.DOUBLE(), Types.STRING(), Types.BIG_INT(), Types.BOOLEAN()])
@pytest.mark.parametrize("amount", [7, 2**62, 0.5, "x", True, 2**70, None])
def test_records_taken_apart_by_their_conversion_are_sent_as_those_that_are_not(declared: Any, amount: Any) -> None:
    taken_apart = TakenApart()
    convert = taken_apart.converter(Types.TUPLE([Types.STRING(), Types.LONG(), declared]))
    try:
        values = convert([("a", 5, amount), ("b", 6, amount)])
    except TypeMismatchError:
        return
    keys, times = [value[0] for value in values], array("q", [value[1] for value in values])
    for before in (None, (KEY, TIME, INT), (OBJECT, INT, OBJECT), (KEY, TIME)):
        expected = columns_of(values, keys, times, before) if before is None or len(before) == 3 else None
        found = columns_of(values, keys, times, before, taken_apart)
        assert (found and found.encoded()) == (expected and expected.encoded())


@pytest.mark.parametrize(
    ("declared", "amounts"),
    [
        (Types.LONG(), [1, 2, 3, 4, 5, 6]),
        (Types.INT(), [1, 2, 3, 4, 5, 6]),
        (Types.DOUBLE(), [0.5, -0.0, 1.5, 2.5, 3.5, 4.5]),
        (Types.STRING(), ["a", "b", "c", "d", "e", "f"]),
        (Types.PICKLED_BYTE_ARRAY(), [1, 2.0, "c", None, (5,), 2**70]),
    ],
    ids=str,
)
@pytest.mark.parametrize("timed", [True, False], ids=["with times", "without times"])
def test_edges_that_are_sent_the_same_blocks_each_have_all_records_once(
    declared: Any, amounts: list[Any], timed: bool
) -> None:
    taken_apart, senders = TakenApart(), [Sender(), Sender(), Sender()]
    convert = taken_apart.converter(Types.TUPLE([Types.LONG(), declared]))
    records = list(zip([7, 8, 7, 9, 8, 7], amounts, strict=True))
    for first in range(0, 6, 2):  # the blocks of one run
        values = convert(records[first : first + 2])
        for at, sender in enumerate(senders):
            sender.writer.taken_apart = taken_apart
            sender.send([value[at % 2] for value in values], values, [first, first] if timed else None)
    for sender in senders:
        found = [value for value, _ in received(sender.rows(1))]
        assert sorted(found, key=repr) == sorted(records, key=repr)


def test_fields_of_another_block_are_not_used() -> None:
    taken_apart = TakenApart()
    taken_apart.converter(Types.TUPLE([Types.LONG(), Types.LONG()]))([(1, 2)])
    assert taken_apart.fields_of([(1, 2)]) is None


def test_a_bool_is_no_int() -> None:
    columns = columns_of([("a", True)], ["a"], None, None)
    assert columns is not None and columns.kinds == (KEY, OBJECT)


def test_a_field_that_was_once_another_than_the_key_is_sent_from_then_on() -> None:
    assert columns_of([(5, 5)], [5], None, (INT, KEY)).kinds == (INT, KEY)  # type: ignore[union-attr]
    assert columns_of([(5, 5)], [5], None, (KEY, OBJECT)).kinds == (KEY, OBJECT)  # type: ignore[union-attr]


class Unpicklable:
    def __reduce__(self) -> Any:
        raise pickle.PicklingError("never")


def test_a_record_that_cannot_be_packed_is_named() -> None:
    sender, bad = Sender(), Unpicklable()
    sender.writer._sender = OperatorPlan(1, "uid", "map", ops.Map(str), None, 1, Origin("program.py", 1))
    sender.send(["a", "b"], [("a", 1), ("b", bad)], None)
    with pytest.raises(OperatorError, match="must be picklable") as caught:
        sender.rows(1)
    assert "Unpicklable" in str(caught.value)


@pytest.mark.parametrize("change", [0, 299])
def test_times_that_are_a_field_of_the_records_are_not_packed_again(change: int) -> None:
    taken_apart = TakenApart()
    values = [("k", 10**12 + number) for number in range(300)]
    taken_apart.converter(Types.TUPLE([Types.STRING(), Types.LONG()]))(values)
    times = [time for _, time in values]
    assert taken_apart.keep_times(times) and taken_apart.times_of(times).tolist() == times
    others = times.copy()
    others[change] += 1
    assert taken_apart.keep_times(others) and taken_apart.times_of(others).tolist() == others
    others[change] = True
    assert not taken_apart.keep_times(others)
