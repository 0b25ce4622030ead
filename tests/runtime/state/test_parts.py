"""State of a key that is divided into parts is read, moved and restored like other state."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from scurry.common import Time
from scurry.datastream import DataStream, ProcessJoinFunction
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.runtime.keys import encode_key
from scurry.runtime.parts import is_part, owner_of, part_key, state_hash, state_hashes
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import page_of
from scurry.runtime.state.runs import Run, stored_content
from scurry.runtime.state.store import DictStore
from scurry.testing import TestHarness
from scurry.testing.inspection import entries_of, keyed_operators
from support.runtime.divided_state import dividing_early

KEYS: list[Any] = ["a", "", "P", 7, -1, encode_key(b""), encode_key((1, "x")), encode_key(b"P")]
GROUPS = 5


class Pairs(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield left[1], right[1]


def windows(stream: DataStream) -> DataStream:
    keyed = stream.key_by(lambda value: value[0])
    return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(
        lambda one, other: (one[0], one[1] + other[1])
    )


def joined(stream: DataStream) -> DataStream:
    keyed = stream.key_by(lambda value: value[0])
    return keyed.interval_join(keyed).between(-3, 3).process(Pairs())


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_part_is_in_the_key_group_of_its_key(key: Any) -> None:
    part = part_key(key, "slot", 3)
    assert is_part(part) and owner_of(part) == key
    assert state_hash(part, GROUPS) % GROUPS == state_hash(key, GROUPS) % GROUPS
    assert state_hashes([key, part], GROUPS) == [state_hash(key, GROUPS), state_hash(part, GROUPS)]


def test_parts_are_not_among_the_keys_with_a_state() -> None:
    store = DictStore()
    backend = KeyedStateBackend("uid", store, GROUPS)
    for key in ("a", 7):
        backend.select(key)["state"] = 1
        backend.part_of(backend.key, "state", 0)[1]["state"] = 2
    backend.flush()
    assert sorted(map(str, KeyedStateBackend("uid", store, GROUPS).keys_with("state", range(GROUPS)))) == ["7", "a"]


RECORDS = [(("ab"[number % 2], number), number * 7 % 100) for number in range(60)]


def half_fed(build: Any, divides: bool) -> TestHarness:
    with dividing_early() if divides else nullcontext():
        harness = TestHarness.of(build, max_parallelism=GROUPS)
        for start in range(0, len(RECORDS), 20):
            with harness.batch():
                for value, time in RECORDS[start : start + 20]:
                    harness.process(value, time)
    return harness


def comparable(harness: TestHarness) -> dict[Any, dict[Any, Any]]:
    """Return the entries of all keys."""
    (operator,) = keyed_operators(harness._plan)
    return entries_of(operator, harness._levels)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("build", [windows, joined])
def test_tools_see_the_parts_in_the_entry_of_their_key(build: Any) -> None:
    one, other = half_fed(build, True), half_fed(build, False)
    stores = one._levels.stores.values()
    assert any(is_part(key) for store in stores for key in _stored_keys(store))
    assert comparable(one) == comparable(other)
    assert one.timers() == other.timers()


def _stored_keys(store: Any) -> set[Any]:
    found: set[Any] = set()
    for (_, kind, _), blob in store.items():
        content = stored_content(blob) if kind == "page" else {}
        if isinstance(content, Run):
            found.update(each.key for each in content)
        elif isinstance(content, dict | tuple):
            found.update(page_of(content))
    return found


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("build", [windows, joined])
@pytest.mark.parametrize("divides", [True, False], ids=["divided", "undivided"])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_divided_state_is_restored(build: Any, divides: bool, parallelism: int) -> None:
    expected = half_fed(build, False)
    snapshot = half_fed(build, divides).snapshot()
    with dividing_early():
        restored = TestHarness.of(build, max_parallelism=GROUPS, parallelism=parallelism, snapshot=snapshot)
        expected.clear_outputs()
        for harness in (expected, restored):
            with harness.batch():
                for value, time in RECORDS[::5]:
                    harness.process(value, time + 30)
            harness.end_input()
    assert sorted(restored.outputs()) == sorted(expected.outputs())
    assert restored.num_keyed_state_entries() == 0 and restored.timers() == []
