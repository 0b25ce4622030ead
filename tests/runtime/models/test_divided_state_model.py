"""Map and list states in parts against a dict and a list: methods give the same, in each batch and the next."""

from __future__ import annotations

import math
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Row
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.divided import equal_hash
from scurry.runtime.state.slots import PARTS
from scurry.runtime.state.states import create_state
from scurry.runtime.state.store import DictStore
from support.cases import CASES
from support.runtime.divided_state import dividing_early


class Point(NamedTuple):
    x: Any
    y: Any


class Text(str):
    pass


#: Keys of a map, many of which are equal to others, or have no hash that is the same in every process.
KEYS: list[Any] = [
    *range(-3, 12), 1.0, True, Decimal(1), Fraction(1), complex(1), 0.5, Decimal("0.5"), 2**70,
    float(2**70), Decimal(2**70), math.inf, Decimal("Infinity"), "", "1", Text("1"), np.str_("1"), b"1", None, (),
    (1, "a"), (True, "a"), Point(1, "a"), (1, (2.0, 3)), (1, (2, 3)), (1, date(2026, 1, 1)), date(2026, 1, 1),
    frozenset([1]), Row(1, 2),
]  # fmt: skip

operations = st.one_of(
    st.tuples(st.sampled_from(["put", "put", "put", "remove", "get"]), st.sampled_from(KEYS), st.integers(0, 9)),
    st.tuples(st.just("add"), st.integers(0, 9)),
    st.tuples(st.just("update"), st.lists(st.integers(0, 9), max_size=9)),
    st.tuples(st.sampled_from(["look", "look", "batch", "batch", "clear map", "clear list"])),
)


class Batches:
    """A map and a list of one key, whose backend changes with each batch."""

    def __init__(self) -> None:
        self.store = DictStore()
        self.map: Any
        self.list: Any
        self.was_divided = False
        self.begin()

    def begin(self) -> None:
        self.backend = KeyedStateBackend("uid", self.store, 4, page_bytes=200)
        self.map = create_state(self.backend, MapStateDescriptor("map"), "map", lambda: 0)
        self.list = create_state(self.backend, ListStateDescriptor("list"), "list", lambda: 0)
        for state in (self.map, self.list):
            self.backend.adopt(state)
        self.was_divided |= PARTS in self.backend.select("key")

    def end(self) -> None:
        self.backend.flush()
        self.begin()


@settings(max_examples=CASES * 3)
@given(st.lists(operations, max_size=80), st.integers(1, 4), st.integers(1, 9))
def test_states_in_parts_are_as_those_in_one_entry(script: list[Any], per_part: int, undivided: int) -> None:
    mapping: dict[Any, Any] = {}
    elements: list[int] = []
    with dividing_early(per_part=per_part, records=undivided):
        states = Batches()
        for name, *given_values in script:
            match name, given_values:
                case "put", [key, value]:
                    states.map.put(key, value)
                    mapping[key] = value
                case "remove", [key, _]:
                    states.map.remove(key)
                    mapping.pop(key, None)
                case "get", [key, _]:
                    assert states.map.get(key) == mapping.get(key)
                    assert states.map.contains(key) == (key in mapping)
                case "add", [value]:
                    states.list.add(value)
                    elements.append(value)
                case "update", [values]:
                    states.list.update(values)
                    elements = values
                case "clear map", _:
                    states.map.clear()
                    mapping = {}
                case "clear list", _:
                    states.list.clear()
                    elements = []
                case "batch", _:
                    states.end()
                case _:
                    look(states, mapping, elements)
        states.end()
        look(states, mapping, elements)
        states.map.clear()
        states.list.clear()
        states.end()
        assert not [entry for entry in states.backend.entries.values() if entry]


def look(states: Batches, mapping: dict[Any, Any], elements: list[int]) -> None:
    assert dict(states.map.items()) == mapping
    assert set(states.map.keys()) == set(states.map) == set(mapping)
    assert sorted(states.map.values()) == sorted(mapping.values())
    assert states.map.is_empty() == (not mapping)
    assert list(states.list.get()) == elements


def test_a_large_map_is_in_parts_of_about_one_size() -> None:
    with dividing_early(per_part=256, records=4096):
        states = Batches()
        for start in range(0, 40_000, 4_000):
            for number in range(start, start + 4_000):
                states.map.put(number, None)
            states.end()
        assert states.was_divided
    found = dict(states.map.items())
    sizes = [len(entry["map"]) for entry in states.backend.entries.values() if "map" in entry]
    assert found.keys() == set(range(40_000))
    assert max(sizes) < 3 * 256 and sum(sizes) / len(sizes) > 64


def test_keys_without_a_hash_make_no_parts() -> None:
    with dividing_early(per_part=4, records=8):
        states = Batches()
        days = [date(2026, 1, 1) + timedelta(day) for day in range(40)]
        for _ in range(5):
            for day in days:
                states.map.put(day, 1)
            states.end()
        assert set(states.map.keys()) == set(days)
        assert sum("map" in entry for entry in states.backend.entries.values()) == 1
        assert states.backend.select("key")[PARTS]["map"][1] < 30


def test_a_map_that_has_become_small_is_in_one_entry_again() -> None:
    with dividing_early(records=8):
        states = Batches()
        for number in range(20):
            states.map.put(number, number)
        states.end()
        for number in range(18):
            states.map.remove(number)
        states.end()
        assert states.backend.entry == {"map": {18: 18, 19: 19}}


def test_elements_that_were_got_see_additions_and_stay_when_the_list_is_cleared() -> None:
    with dividing_early():
        states = Batches()
        states.list.add_all(range(5))
        states.end()
        elements = states.list.get()
        states.list.add(5)
        assert list(elements) == list(range(6))
        states.list.clear()
        assert list(elements) == list(range(6)) and list(states.list.get()) == []


EQUAL = [(key, other) for place, key in enumerate(KEYS) for other in KEYS[:place] if key == other]
EQUAL += [(1, np.int64(1)), (1.5, np.float64(1.5))]


@pytest.mark.parametrize(("key", "other"), EQUAL, ids=repr)
def test_equal_keys_have_one_hash(key: Any, other: Any) -> None:
    assert equal_hash(key) == equal_hash(other)
