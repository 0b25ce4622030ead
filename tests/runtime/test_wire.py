from __future__ import annotations

import datetime
import marshal
from typing import Any

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
    block = pack(value)
    assert block[:1] == b"M"
    assert unpack(block) == value


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


def test_a_shared_object_stays_shared() -> None:
    shared = [1]
    left, right = unpack(pack([shared, shared]))
    assert left is right


def test_marshal_is_not_asked_for_what_it_would_change() -> None:
    assert marshal.version >= 3  # below, shared objects are duplicated


def test_a_channel_names_the_task_and_its_instance() -> None:
    assert len({channel_id(task, instance) for task in range(50) for instance in range(50)}) == 2500
