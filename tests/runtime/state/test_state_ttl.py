"""States with a time to live of 10 ms, and a clock that tests set."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common.time import Duration
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.states import create_state
from scurry.runtime.state.store import DictStore
from support.runtime.expiring_state import Total


class Bench:
    """A key's state and the clock it goes by."""

    def __init__(self) -> None:
        self.now = 0
        self.backend = KeyedStateBackend("op", DictStore())
        self.backend.select("key")

    def state(self, descriptor: Any, *, renew_on_read: bool = False, return_expired: bool = False) -> Any:
        builder = StateTtlConfig.new_builder(Duration.of_millis(10))
        if renew_on_read:
            builder.update_ttl_on_read_and_write()
        if return_expired:
            builder.return_expired_if_not_cleaned_up()
        descriptor.enable_time_to_live(builder.build())
        return create_state(self.backend, descriptor, descriptor.name, lambda: self.now)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(("at", "seen"), [(0, "x"), (9, "x"), (10, None), (11, None)])
def test_a_value_lives_for_its_time_and_no_longer(bench: Bench, at: int, seen: Any) -> None:
    state = bench.state(ValueStateDescriptor("v"))
    state.update("x")
    bench.now = at
    assert state.value() == seen


def test_writing_renews(bench: Bench) -> None:
    state = bench.state(ValueStateDescriptor("v"))
    state.update("x")
    bench.now = 9
    state.update("y")
    bench.now = 18
    assert state.value() == "y"


@pytest.mark.parametrize(("renew_on_read", "seen"), [(False, None), (True, "x")])
def test_reading_renews_if_configured(bench: Bench, renew_on_read: bool, seen: Any) -> None:
    state = bench.state(ValueStateDescriptor("v"), renew_on_read=renew_on_read)
    state.update("x")
    bench.now = 9
    state.value()
    bench.now = 18
    assert state.value() == seen


def test_an_expired_value_is_removed_when_it_is_met(bench: Bench) -> None:
    state = bench.state(ValueStateDescriptor("v"))
    state.update("x")
    bench.now = 10
    state.value()
    assert bench.backend.entry == {}


def test_an_expired_value_is_seen_once_more_if_configured(bench: Bench) -> None:
    state = bench.state(ValueStateDescriptor("v"), return_expired=True)
    state.update("x")
    bench.now = 10
    assert [state.value(), state.value()] == ["x", None]


def test_elements_of_a_list_expire_one_by_one(bench: Bench) -> None:
    state = bench.state(ListStateDescriptor("l"))
    state.add(1)
    bench.now = 5
    state.add_all([2, 3])
    bench.now = 10
    assert list(state.get()) == [2, 3]
    bench.now = 15
    assert list(state.get()) == []
    assert bench.backend.entry == {}


def test_updating_a_list_starts_over(bench: Bench) -> None:
    state = bench.state(ListStateDescriptor("l"))
    state.add(1)
    bench.now = 9
    state.update([2])
    bench.now = 18
    assert list(state) == [2]


def test_entries_of_a_map_expire_one_by_one(bench: Bench) -> None:
    state = bench.state(MapStateDescriptor("m"))
    state.put("a", 1)
    bench.now = 5
    state["b"] = 2
    bench.now = 10
    assert (state.get("a"), state["b"], "a" in state, "b" in state) == (None, 2, False, True)
    assert list(state.items()) == [("b", 2)]
    assert (list(state), list(state.values())) == (["b"], [2])
    bench.now = 15
    assert state.is_empty()
    assert bench.backend.entry == {}


def test_a_map_may_hold_none(bench: Bench) -> None:
    state = bench.state(MapStateDescriptor("m"))
    state.put("a", None)
    assert ("a" in state, list(state.items()), state.is_empty()) == (True, [("a", None)], False)
    bench.now = 10
    assert ("a" in state, list(state.items()), state.is_empty()) == (False, [], True)


@pytest.mark.parametrize(
    "descriptor",
    [ReducingStateDescriptor("r", lambda a, b: a + b), AggregatingStateDescriptor("a", Total())],
    ids=["reducing", "aggregating"],
)
def test_folding_starts_over_after_expiry(bench: Bench, descriptor: Any) -> None:
    state = bench.state(descriptor)
    state.add(1)
    bench.now = 9
    state.add(2)
    bench.now = 18
    assert state.get() == 3
    state.add(4)
    bench.now = 28
    state.add(8)
    assert state.get() == 8


@pytest.mark.parametrize("kind", ["value", "list", "map"])
def test_clear_removes_at_once(bench: Bench, kind: str) -> None:
    kinds: dict[str, Any] = {"value": ValueStateDescriptor, "list": ListStateDescriptor, "map": MapStateDescriptor}
    state = bench.state(kinds[kind]("s"))
    {"value": lambda: state.update(1), "list": lambda: state.add(1), "map": lambda: state.put(1, 1)}[kind]()
    state.clear()
    assert bench.backend.entry == {}


def test_time_to_live_survives_the_end_of_a_batch(bench: Bench) -> None:
    store = DictStore()
    bench.backend = KeyedStateBackend("op", store)
    bench.backend.select("key")
    bench.state(ValueStateDescriptor("v")).update("x")
    bench.backend.flush()
    bench.backend = KeyedStateBackend("op", store)
    bench.backend.select("key")
    state = bench.state(ValueStateDescriptor("v"))
    bench.now = 9
    assert state.value() == "x"
    bench.now = 10
    assert state.value() is None
