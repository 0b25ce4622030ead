"""State of a key that is divided into parts is read, moved and restored like other state."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from typing import Any

import pytest

from scurry.common import Time, Types
from scurry.datastream import DataStream, KeyedProcessFunction, ProcessJoinFunction, ProcessWindowFunction
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.runtime.keys import encode_key
from scurry.runtime.parts import is_part, owner_of, part_key, state_hash, state_hashes
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.evolution.operator import OperatorMigration, drop
from scurry.runtime.state.expiry import Lifetime, due
from scurry.runtime.state.layout import page_of
from scurry.runtime.state.runs import Run, stored_content
from scurry.runtime.state.slots import CONTENTS, JOINED, PARTS
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
    backend.select("divided")[PARTS] = {"state": [0, 1, 1, None]}
    backend.flush()
    found = KeyedStateBackend("uid", store, GROUPS).keys_with("state", range(GROUPS))
    assert sorted(map(str, found)) == ["7", "a", "divided"]


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


class Kept(KeyedProcessFunction):
    """Keeps all records of a key in a map and in a list, up to the end."""

    def open(self, runtime_context: Any) -> None:
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.LONG(), Types.LONG()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.map.put(value[1], ctx.timestamp())
        self.list.add(value[1])
        ctx.timer_service().register_event_time_timer(10**6)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), sorted(self.map.items()), list(self.list.get())
        self.map.clear()
        self.list.clear()


def kept(stream: DataStream) -> DataStream:
    return stream.key_by(lambda value: value[0]).process(Kept())


class Windows(ProcessWindowFunction):
    """Keeps the windows of a key in a map that lasts, beside open windows."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        seen = context.global_state().get_map_state(MapStateDescriptor("seen", Types.LONG(), Types.LONG()))
        seen.put(context.window().start, len(list(elements)))
        yield key, context.window().start, sorted(seen.items())


def windows_and_maps(stream: DataStream) -> DataStream:
    keyed = stream.key_by(lambda value: value[0])
    return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Windows())


def test_windows_and_states_of_a_key_have_parts_beside_each_other() -> None:
    expected, divided = half_fed(windows_and_maps, False), half_fed(windows_and_maps, True)
    with dividing_early():
        for harness in (expected, divided):
            for watermark in range(5, 100, 15):
                harness.advance_watermark(watermark)
                harness.process(("a", 1), watermark + 40)
            harness.end_input()
    assert divided.outputs() == expected.outputs()


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("build", [windows, joined, kept])
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


def test_a_state_that_is_dropped_leaves_no_directory() -> None:
    page = {"a": {PARTS: {"map": [0, 2, 9, None]}, "other": 1}, part_key("a", "map", 0): {"map": {1: 1}}}
    migrated = OperatorMigration("keep", {"map": drop}).migrate("page", pickle.dumps(page, 5))
    assert pickle.loads(migrated) == {"a": {"other": 1}}


def test_a_state_that_gets_a_time_to_live_again_has_no_earlier_access() -> None:
    """Its values are accessed at the restore: by the access of then, the directory would expire before them."""
    page = {"a": {PARTS: {"map": [0, 1, 1, 500]}}, part_key("a", "map", 0): {"map": {1: 1}}}
    stamped = OperatorMigration("keep", {"map": lambda values: {key: (value, 9000) for key, value in values.items()}})
    migrated = pickle.loads(stamped.migrate("page", pickle.dumps(page, 5)))
    due(migrated, {"map": Lifetime("map", 100)}, 9050)
    assert migrated["a"] == {PARTS: {"map": [0, 1, 1, None]}}
    assert migrated[part_key("a", "map", 0)] == {"map": {1: (1, 9000)}}


@pytest.mark.parametrize(("slot", "directory"), [(JOINED[0], ([5], [0])), (CONTENTS, 99)])
def test_directories_of_operators_stay_when_their_values_change(slot: str, directory: Any) -> None:
    page = pickle.dumps({"a": {PARTS: {slot: directory}}}, 5)
    assert OperatorMigration("join", {slot: list}).migrate("page", page) == page


@pytest.mark.parametrize("name", ["map", "list"])
def test_a_state_that_gets_a_time_to_live_may_have_parts(name: str) -> None:
    content: Any = {1: (1, 500)} if name == "map" else [(1, 500)]
    page: Any = {"a": {PARTS: {name: [0, 1, 1, None]}}, part_key("a", name, 0): {name: content}}
    assert due(page, {name: Lifetime(name, 100)}, 1000) is None
    assert page == {"a": {PARTS: {name: [0, 1, 1, None]}}, part_key("a", name, 0): {}}


@pytest.mark.parametrize("name", ["map", "list"])
def test_a_directory_expires_with_the_last_value(name: str) -> None:
    page: Any = {"a": {PARTS: {name: [0, 1, 1, 500]}}}
    assert due(page, {name: Lifetime(name, 100)}, 599) is not None and page["a"]
    assert due(page, {name: Lifetime(name, 100)}, 600) is None
    assert page == {"a": {}}


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("build", [windows, joined, kept])
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
