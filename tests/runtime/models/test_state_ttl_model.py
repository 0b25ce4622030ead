"""State with a time to live against a model that keeps everything and looks at the clock.

Records are commands for a few keys among many; in between the clock moves, and other keys come so that what has expired
is cleaned up, pages split and are merged. Nothing of that may show. 700 cases with SCURRY_CASES=700.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.testing import TestHarness
from support.cases import CASES
from support.runtime.divided_state import dividing_early
from support.runtime.expiring_state import GONE, TTL, Total, expiring, seen, stored


class Commanded(KeyedProcessFunction):
    """Obeys (key, command, number), and yields what all states of the key hold if the command is to look."""

    def __init__(self, renew_on_read: bool) -> None:
        self.renew_on_read = renew_on_read

    def open(self, runtime_context: Any) -> None:
        def settings(builder: StateTtlConfig.Builder) -> StateTtlConfig.Builder:
            return builder.update_ttl_on_read_and_write() if self.renew_on_read else builder

        get = runtime_context.get_state
        self.value = get(expiring(ValueStateDescriptor("value"), settings))
        self.list = get(expiring(ListStateDescriptor("list"), settings, TTL // 2))
        self.map = get(expiring(MapStateDescriptor("map"), settings))
        self.sum = get(expiring(ReducingStateDescriptor("sum", lambda a, b: a + b), settings, 2 * TTL))
        self.total = get(expiring(AggregatingStateDescriptor("total", Total()), settings))

    def process_element(self, value: Any, ctx: Any) -> Any:
        key, command, number = value
        if command == "look":
            yield key, self.value.value(), list(self.list), dict(self.map.items()), self.sum.get(), self.total.get()
        elif command == "put":
            self.map.put(number, number)
        elif command == "clear":
            (self.value, self.list, self.map, self.sum, self.total)[number % 5].clear()
        else:
            self.value.update(number)
            self.list.add(number)
            self.sum.add(number)
            self.total.add(number)


@dataclass
class Model:
    """Keeps (number, last access) of everything."""

    renew: bool
    now: int = 1000
    values: dict[Any, Any] = field(default_factory=dict)
    seen: list[Any] = field(default_factory=list)

    def obey(self, key: str, command: str, number: int) -> None:
        if command == "look":
            found = (self._one(key, "value"), self._list(key), self._map(key), self._one(key, "sum", 2 * TTL))
            self.seen.append((key, *found, self._one(key, "total")))
        elif command == "put":
            self.values.setdefault((key, "map"), {})[number] = (number, self.now)
        elif command == "clear":
            self.values.pop((key, ("value", "list", "map", "sum", "total")[number % 5]), None)
        else:
            self.values[key, "value"] = (number, self.now)
            self.values.setdefault((key, "list"), []).append((number, self.now))
            self._fold(key, "sum", number, 2 * TTL)
            self._fold(key, "total", number, TTL)

    def _fold(self, key: str, name: str, number: int, ttl: int) -> None:
        self.values[key, name] = ((self._one(key, name, ttl) or 0) + number, self.now)

    def _alive(self, stamped: Any, ttl: int) -> bool:
        return bool(stamped[1] + ttl > self.now)

    def _one(self, key: str, name: str, ttl: int = TTL) -> Any:
        stamped = self.values.get((key, name))
        if stamped is None or not self._alive(stamped, ttl):
            self.values.pop((key, name), None)
            return None
        if self.renew:
            self.values[key, name] = (stamped[0], self.now)
        return stamped[0]

    def _list(self, key: str) -> list[int]:
        alive = [each for each in self.values.get((key, "list"), []) if self._alive(each, TTL // 2)]
        self.values[key, "list"] = [(number, self.now) for number, _ in alive] if self.renew else alive
        return [number for number, _ in alive]

    def _map(self, key: str) -> dict[int, int]:
        alive = {k: each for k, each in self.values.get((key, "map"), {}).items() if self._alive(each, TTL)}
        self.values[key, "map"] = {k: (v, self.now) for k, (v, _) in alive.items()} if self.renew else alive
        return {k: v for k, (v, _) in alive.items()}


keys = st.integers(0, 5).map("key {}".format)
commands = st.one_of(
    st.tuples(keys, st.sampled_from(["write", "write", "put", "look", "look", "clear"]), st.integers(0, 9)),
    st.tuples(st.just("clock"), st.sampled_from([1, TTL // 4, TTL // 2, TTL, GONE])),
    st.tuples(st.just("others"), st.sampled_from([1, 20, 60])),
)


def obey(harness: TestHarness, model: Model, command: Any, others: Callable[[], str]) -> None:
    if command[0] == "clock":
        model.now += command[1]
        harness.advance_processing_time(model.now)
    elif command[0] == "others":
        with harness.batch():
            for _ in range(command[1]):
                harness.process((others(), "write", 1))
    else:
        harness.process(command)
        model.obey(*command)


def comparable(looked: Any) -> Any:
    """Return what was looked at without the order of the map, which is that of its parts if it has parts."""
    key, value, elements, mapping, *folded = looked
    return key, value, elements, sorted(mapping.items()), *folded


@settings(max_examples=CASES)
@given(st.lists(commands, max_size=60), st.booleans(), st.sampled_from([1, 2, 128]), st.booleans())
def test_cleaning_up_changes_nothing_that_can_be_seen(
    script: list[Any], renew: bool, groups: int, divides: bool
) -> None:
    model, names = Model(renew), iter(range(10**9))
    with (
        dividing_early() if divides else nullcontext(),
        TestHarness.of(seen(Commanded(renew)), max_parallelism=groups, processing_time=1000) as harness,
    ):
        for command in script:
            obey(harness, model, command, lambda: f"other {next(names)}")
        assert list(map(comparable, harness.outputs())) == list(map(comparable, model.seen))
        for _ in range(3):
            obey(harness, model, ("clock", 3 * TTL), lambda: "")
            harness.process(("last", "write", 1))
        assert set(stored(harness)) == {"last"}
