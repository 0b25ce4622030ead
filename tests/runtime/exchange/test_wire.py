from __future__ import annotations

import array
import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.common import Row
from scurry.runtime.exchange.wire import channel_id, pack, unpack

BUILTIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda parts: st.lists(parts, max_size=3) | st.tuples(parts, parts) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)


@given(BUILTIN)
def test_builtin_values_come_back(value: Any) -> None:
    assert unpack(pack(value)) == value


@given(st.lists(st.datetimes() | st.decimals(allow_nan=False) | st.integers(), min_size=1))
def test_other_values_come_back(values: list[Any]) -> None:
    assert unpack(pack(values)) == values


def test_rows_come_back_as_rows() -> None:
    back = unpack(pack([Row(name="a", n=1), datetime.date(2026, 1, 2)]))
    assert back == [Row(name="a", n=1), datetime.date(2026, 1, 2)]
    assert back[0].name == "a"


class Celsius(float):
    def __eq__(self, other: object) -> bool:
        return type(other) is Celsius and float(self) == float(other)

    __hash__ = float.__hash__


class Text(str):
    __slots__ = ()


class Items(list[int]):
    pass


@given(st.sampled_from([Text("a"), Items([1]), Celsius(1.5)]))
def test_subclasses_of_builtins_stay_what_they_are(value: Any) -> None:
    (back,) = unpack(pack([value]))
    assert (type(back), back) == (type(value), value)


BUFFERS = [np.float64(1.5), np.int64(3), np.array([1, 2]), bytearray(b"x"), array.array("d", [1.0])]


@pytest.mark.parametrize("value", BUFFERS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("record", [lambda value: value, lambda value: (1, [value])], ids=["alone", "within a record"])
def test_values_that_have_buffers_stay_what_they_are(value: Any, record: Callable[[Any], Any]) -> None:
    (back,) = unpack(pack([record(value)]))
    back = back[1][0] if isinstance(back, tuple) else back
    assert type(back) is type(value)
    assert np.array_equal(back, value)


def test_records_that_share_a_list_get_one_each() -> None:
    shared = [1]
    left, right = unpack(pack([shared, shared]))
    assert left == right == [1]
    assert left is not right


def test_a_list_that_contains_itself_comes_back() -> None:
    endless: list[Any] = []
    endless.append(endless)
    (back,) = unpack(pack([endless]))
    assert back[0] is back


def test_a_channel_names_the_task_and_its_instance() -> None:
    assert len({channel_id(task, instance) for task in range(50) for instance in range(50)}) == 2500
