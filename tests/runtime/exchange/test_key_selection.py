"""Key selectors that return a field are recognized by their code, and nothing else is taken for one."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.common import Types
from scurry.common.typeinfo import TypeInformation
from scurry.errors import OperatorError
from scurry.graph.operators import Hash
from scurry.runtime.exchange.key_selection import Keys
from scurry.runtime.exchange.record_columns import TakenApart
from scurry.runtime.functions.fields import key_field, time_field

PLACE: Any = SimpleNamespace(name="keys", uid="keys", origin="here")
POSITION = 1
RECORDS = [("a", 1, 2.5), ("b", 2, 0.5)]


def documented(record: Any) -> Any:
    """Return the key."""
    return record[2]


class Selector:
    def get_key(self, value: Any) -> Any:
        return value[1]


def nested() -> Callable[[Any], Any]:
    return lambda record: record[1]


@pytest.mark.parametrize(
    ("selector", "position"),
    [
        (lambda record: record[0], 0),
        (lambda each: each[300], 300),
        (documented, 2),
        (Selector().get_key, 1),
        (nested(), 1),
        (lambda record: record[-1], -1),
        (lambda record: record["key"], None),
        (lambda record: record[True], None),
        (lambda record: record[1.0], None),
        (lambda record: record[POSITION], None),
        (lambda record: record[0][1], None),
        (lambda record: record[0] + 1, None),
        (lambda *records: records[0], None),
        (lambda record, position=0: record[position], None),
        (lambda record, other=None: record[0], None),
        (lambda record: record.key, None),
        (lambda record: RECORDS[0], None),
        (Selector, None),
        (len, None),
    ],
)
def test_a_selector_of_a_field(selector: Callable[..., Any], position: int | None) -> None:
    assert key_field(selector) == position


class Assigner:
    def extract_timestamp(self, value: Any, record_timestamp: int) -> Any:
        return value[1]

    def as_int(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])

    def twice(self, value: Any, record_timestamp: int) -> int:
        return int(value[2]) * 2


def with_another_int() -> Callable[..., Any]:
    """Return an assigner that calls what its module calls `int`."""
    names: dict[str, Any] = {"int": len}
    exec("def assigner(record, time): return int(record[0])", names)
    return names["assigner"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("assigner", "position"),
    [
        (Assigner().extract_timestamp, 1),
        (Assigner().as_int, 2),
        (lambda record, time: record[0], 0),
        (lambda record, time: int(record[3]), 3),
        (Assigner().twice, None),
        (with_another_int(), None),
        (lambda record, time: float(record[0]), None),
        (lambda record, time: int(time), None),
        (lambda record: record[0], None),
        (Assigner.as_int, None),
        (None, None),
    ],
)
def test_an_assigner_of_a_field(assigner: Any, position: int | None) -> None:
    assert time_field(assigner) == position


def test_times_are_a_field_of_the_kept_block_that_is_long() -> None:
    taken_apart = TakenApart()
    block = taken_apart.converter(Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()]))([("a", 5, 1), ("b", 3, 2)])
    times = taken_apart.times_in(block, 1)
    assert times == [5, 3] and taken_apart.times_of(times).tolist() == [5, 3]
    assert [taken_apart.times_in(block, field) for field in (-1, 0, 2, 3)] == [None] * 4
    assert taken_apart.times_in(block[:], 1) is None


@pytest.mark.parametrize(
    "records", [RECORDS, [list(each) for each in RECORDS], [dict(enumerate(each)) for each in RECORDS], ["ab", "cd"]]
)
@pytest.mark.parametrize("position", [0, 1])
def test_keys_are_those_that_calls_return(records: list[Any], position: int) -> None:
    selector: Callable[[Any], Any] = (lambda record: record[0]) if position == 0 else (lambda record: record[1])
    called = Keys(Hash(lambda record: selector(record)), PLACE)
    assert Keys(Hash(selector), PLACE)(records) == called(records)


def test_a_selector_that_fails_is_named_with_its_record_and_line() -> None:
    with pytest.raises(OperatorError, match="the key selector failed on this record") as caught:
        Keys(Hash(lambda record: record[2]), PLACE)([("a", 1, 2), ("b", 1)])
    assert "('b', 1)" in str(caught.value)
    assert isinstance(caught.value.__cause__, IndexError)


@pytest.mark.parametrize(
    ("key_type", "position", "is_field"),
    [(Types.STRING(), 0, True), (Types.LONG(), 1, True), (Types.INT(), 1, False), (None, 0, False)],
)
def test_keys_that_have_been_converted_are_the_field(
    key_type: TypeInformation | None, position: int, is_field: bool
) -> None:
    taken_apart = TakenApart()
    block = taken_apart.converter(Types.TUPLE([Types.STRING(), Types.LONG(), Types.DOUBLE()]))(RECORDS)
    selector = Keys(Hash((lambda each: each[0]) if position == 0 else (lambda each: each[1]), key_type), PLACE)
    expected = [record[position] for record in RECORDS]
    packed = array("q", [1, 2]) if position else None
    assert taken_apart.keys_of(block, selector) == ((expected, packed) if is_field else None)
    assert taken_apart.keys_of(block[:], selector) is None


def test_times_that_are_kept_belong_to_their_block() -> None:
    taken_apart, times = TakenApart(), [3, 1, 2]
    assert taken_apart.keep_times(times)
    first = taken_apart.times_of(times)
    first.append(4)
    assert taken_apart.times_of(times).tolist() == [3, 1, 2]
    assert taken_apart.times_of([5, 6]).tolist() == [5, 6]
    for wrong in ([1.5], [True], [2**63], [None]):
        assert not taken_apart.keep_times(wrong)  # type: ignore[arg-type]
    assert taken_apart.times_of(times).tolist() == [3, 1, 2]


def test_a_block_that_is_forgotten_is_not_looked_up() -> None:
    taken_apart, keys = TakenApart(), Keys(Hash(lambda each: each[0], Types.STRING()), PLACE)
    block = taken_apart.converter(Types.TUPLE([Types.STRING(), Types.LONG()]))([("a", 5), ("b", 3)])
    times = taken_apart.times_in(block, 1)
    assert times == [5, 3]
    taken_apart.forget()
    found = [taken_apart.times_in(block, 1), taken_apart.keys_of(block, keys), taken_apart.fields_of(block)]
    assert found == [None] * 3
    assert taken_apart.times_of(times).tolist() == [5, 3]
