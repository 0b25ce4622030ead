"""States hold values of their declared types from the end of a batch on, as PyFlink encodes them in between."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Row, Types
from scurry.common.time import Duration
from scurry.datastream import AggregateFunction
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.errors import TypeMismatchError
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.declared import conversion_of
from scurry.runtime.state.primitives import plain_value
from scurry.runtime.state.states import create_state
from scurry.runtime.state.store import DictStore

ROW = Types.ROW_NAMED(["n", "s"], [Types.INT(), Types.STRING()])


class Last(AggregateFunction[Any, Any, Any]):
    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return value

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, a: Any, b: Any) -> Any:
        return b


def last(before: Any, value: Any) -> Any:
    return value


class Bench:
    """A state, the key of which tests choose, and batches that end."""

    def __init__(self, descriptor: StateDescriptor[Any], ttl: bool = False) -> None:
        if ttl:
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Duration.of_hours(1)).build())
        self.kind = descriptor.kind
        self.backend = KeyedStateBackend("op", DictStore())
        self.state: Any = create_state(self.backend, descriptor, descriptor.name, lambda: 7)
        conversion = conversion_of(descriptor, self.state)
        if conversion is not None:
            self.backend.conversions.append(conversion)
        self.key("a")

    def key(self, key: str) -> Any:
        self.backend.select(key)
        return self.state

    def content(self, key: str = "a") -> Any:
        """What the state of a key holds after the batch."""
        self.backend.flush()
        self.key(key)
        return plain_value(self.kind, self.state)


@pytest.fixture(params=[False, True], ids=["forever", "ttl"])
def ttl(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_elements_are_converted(ttl: bool) -> None:
    bench = Bench(ListStateDescriptor("s", Types.DOUBLE()), ttl)
    bench.state.add_all([1, 2.5])
    bench.key("b").update([3])
    assert repr((bench.content(), bench.content("b"))) == "([1.0, 2.5], [3.0])"


def test_elements_of_later_batches_are_converted_too(ttl: bool) -> None:
    bench = Bench(ListStateDescriptor("s", ROW), ttl)
    bench.state.add(Row(1, "x"))
    bench.content()
    bench.state.add(Row(s="y", n=2))
    assert bench.content() == [Row(n=1, s="x"), Row(n=2, s="y")]


@pytest.mark.parametrize("value", [None, "x", 1 << 40])
def test_an_element_that_does_not_fit_is_refused(value: Any, ttl: bool) -> None:
    bench = Bench(ListStateDescriptor("s", Types.INT()), ttl)
    bench.state.add(value)
    with pytest.raises(TypeMismatchError, match=r"declared type Integer .* in state 's'"):
        bench.content()


def test_lists_of_pickled_values_take_anything(ttl: bool) -> None:
    bench = Bench(ListStateDescriptor("s", Types.PICKLED_BYTE_ARRAY()), ttl)
    bench.state.add(None)
    assert bench.content() == [None]


def test_keys_and_values_of_maps_are_converted(ttl: bool) -> None:
    bench = Bench(MapStateDescriptor("s", Types.INT(), Types.DOUBLE()), ttl)
    bench.state.put(1, 1)
    bench.key("b").put_all({2.5: 2, 3: 3.5})
    assert repr((bench.content(), bench.content("b"))) == "({1: 1.0}, {2: 2.0, 3: 3.5})"


def test_keys_that_become_equal_keep_the_later_value(ttl: bool) -> None:
    bench = Bench(MapStateDescriptor("s", Types.INT(), Types.INT()), ttl)
    bench.state.put(1.5, 1)
    bench.state.put(1, 2)
    assert bench.content() == {1: 2}


def test_values_of_maps_may_be_none(ttl: bool) -> None:
    bench = Bench(MapStateDescriptor("s", Types.STRING(), Types.INT()), ttl)
    bench.state.put("k", None)
    assert bench.content() == {"k": None}


@pytest.mark.parametrize(("key", "value"), [(None, 1), (5, 1), ("k", "x")])
def test_an_entry_that_does_not_fit_is_refused(key: Any, value: Any, ttl: bool) -> None:
    bench = Bench(MapStateDescriptor("s", Types.STRING(), Types.INT()), ttl)
    bench.state.put(key, value)
    with pytest.raises(TypeMismatchError, match="in state 's'"):
        bench.content()


def test_what_was_replaced_in_the_same_batch_need_not_fit(ttl: bool) -> None:
    bench = Bench(MapStateDescriptor("s", Types.STRING(), Types.INT()), ttl)
    bench.state.put("k", "x")
    bench.state.put("k", 1)
    assert bench.content() == {"k": 1}


def test_one_undeclared_side_of_a_map_takes_anything(ttl: bool) -> None:
    bench = Bench(MapStateDescriptor("s", Types.PICKLED_BYTE_ARRAY(), Types.DOUBLE()), ttl)
    bench.state.put(("any", 1), 1)
    assert repr(bench.content()) == "{('any', 1): 1.0}"


def test_single_values_are_converted(ttl: bool) -> None:
    value = Bench(ValueStateDescriptor("s", Types.DOUBLE()), ttl)
    value.state.update(1)
    reducing = Bench(ReducingStateDescriptor("s", last, Types.DOUBLE()), ttl)
    reducing.state.add(2)
    aggregating = Bench(AggregatingStateDescriptor("s", Last(), Types.DOUBLE()), ttl)
    aggregating.state.add(3)
    assert repr([bench.content() for bench in (value, reducing, aggregating)]) == "[1.0, 2.0, 3.0]"


@pytest.mark.parametrize(
    "descriptor",
    [
        ValueStateDescriptor("s", Types.INT()),
        ReducingStateDescriptor("s", last, Types.INT()),
        AggregatingStateDescriptor("s", Last(), Types.INT()),
    ],
    ids=lambda descriptor: descriptor.kind,
)
def test_a_single_value_that_does_not_fit_is_refused(descriptor: StateDescriptor[Any], ttl: bool) -> None:
    bench = Bench(descriptor, ttl)
    getattr(bench.state, "update" if bench.kind == "value" else "add")("x")
    with pytest.raises(TypeMismatchError, match="declared type Integer does not accept 'x' .* in state 's'"):
        bench.content()


def test_none_clears_aggregating_state(ttl: bool) -> None:
    bench = Bench(AggregatingStateDescriptor("s", Last(), Types.INT()), ttl)
    bench.state.add(1)
    bench.state.add(None)
    assert bench.state.get() is None
    assert bench.content() is None


def test_times_of_last_access_are_kept() -> None:
    bench = Bench(MapStateDescriptor("s", Types.STRING(), Types.DOUBLE()), ttl=True)
    bench.state.put("k", 1)
    bench.content()
    assert bench.backend.entry["s"] == {"k": (1.0, 7)}


def test_what_a_backend_without_an_end_was_given_is_forgotten() -> None:
    descriptor = ListStateDescriptor("s", Types.LONG())
    backend = KeyedStateBackend("op", DictStore())
    backend.select("a")
    state: Any = create_state(backend, descriptor, "s", lambda: 0)
    conversion: Any = conversion_of(descriptor, state)
    state.add(1)
    conversion.begin()
    assert conversion.written == []
    assert list(state.get()) == [1]
