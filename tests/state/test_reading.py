"""What a SavepointReader shows of the state that a job has left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pipelines
import pytest
from pipelines import LAST, PRICES, RECENT, MeanAndTimers, Visit

from scurry.common import Row
from scurry.common.time import TimeDomain
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import TimeWindow
from scurry.errors import OperatorError, SavepointError, StateNotFoundError
from scurry.state import KeyedStateReaderFunction, SavepointReader, Timer, WindowState
from scurry.testing import TestHarness
from support.state.harness_savepoints import NOW, save

HOME, SHOP = Visit("home", 10), Visit("shop", 30, ["sale"])


@pytest.fixture
def savepoint(tmp_path: Path) -> SavepointReader:
    with TestHarness.of(pipelines.profiles, parallelism=2, processing_time=NOW) as harness:
        harness.process(("ann", HOME), 1_000)
        harness.process(("ann", SHOP), 2_000)
        harness.process((7, HOME), 3_000)
        return SavepointReader.read(save(harness, tmp_path / "savepoint"))


def test_states_of_a_key_show_as_plain_values_by_name(savepoint: SavepointReader) -> None:
    keys = dict(savepoint.keyed_state("profiles", LAST, RECENT))
    assert keys["ann"] == {
        "count": 2,
        "pages": [Row(page="home", seconds=10), Row(page="shop", seconds=30)],
        "by_page": {"home": HOME, "shop": SHOP},
        "total": 40,
        "mean": (40, 2),
        "last": "shop",
        "recent": ["home", "shop"],
    }
    assert keys[7]["count"] == 1


def test_keys_are_those_the_key_selector_returned(tmp_path: Path) -> None:
    keys = ["ann", 7, 1.5, ("a", 1), None, True, Row("x", 2)]

    def totals(pairs: Any) -> Any:
        return pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: b).uid("totals")

    with TestHarness.of(totals) as harness:
        for key in keys:
            harness.process((key, 1))
        found = [key for key, _ in SavepointReader.read(save(harness, tmp_path / "s")).keyed_state("totals")]
    assert sorted(map(repr, found)) == sorted(map(repr, keys))


def test_all_keys_of_groups_with_many_pages_are_read_once(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.totals, max_parallelism=2) as harness:
        with harness.batch():
            for number in range(3_000):
                harness.process((f"key {number}", number))
        savepoint = SavepointReader.read(save(harness, tmp_path / "s"))
    found = [(key, states["reduce"]) for key, states in savepoint.keyed_state("totals")]
    assert sorted(found) == sorted((f"key {n}", (f"key {n}", n)) for n in range(3_000))


def test_timers_show_with_key_and_domain(savepoint: SavepointReader) -> None:
    event = TimeDomain.EVENT_TIME
    assert sorted(savepoint.timers("profiles"), key=lambda timer: timer.time) == [
        Timer(61_000, "ann", event, None),
        Timer(62_000, "ann", event, None),
        Timer(63_000, 7, event, None),
    ]


def test_a_reader_function_sees_states_and_timers_of_each_key(savepoint: SavepointReader) -> None:
    found = sorted(savepoint.read_keyed_state("profiles", MeanAndTimers()), key=repr)
    assert found == [("ann", 20.0, [61_000, 62_000], set()), (7, 10.0, [63_000], set())]


class LastPage(KeyedStateReaderFunction):
    def __init__(self, descriptor: Any) -> None:
        self.descriptor = descriptor

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(self.descriptor)

    def read_key(self, key: Any, ctx: Any) -> Any:
        if self.last.value() is not None:
            yield key, self.last.value()


def test_a_reader_function_sees_what_was_alive_when_the_savepoint_was_taken(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.profiles, processing_time=NOW - 70_000) as harness:
        harness.process(("gone", HOME), 1)
        harness.advance_processing_time(NOW - 50_000)
        harness.process(("here", SHOP), 2)
        savepoint = SavepointReader.read(save(harness, tmp_path / "s"))
    assert list(savepoint.read_keyed_state("profiles", LastPage(LAST))) == [("here", "shop")]


class Fails(KeyedStateReaderFunction):
    def read_key(self, key: Any, ctx: Any) -> Any:
        raise RuntimeError("cannot read this")


def test_a_reader_function_that_fails_is_told_with_the_key(savepoint: SavepointReader) -> None:
    with pytest.raises(OperatorError, match=r"(?s)cannot read this.*record: ('ann'|7)"):
        list(savepoint.read_keyed_state("profiles", Fails()))


def test_windows_in_flight_show_their_accumulators(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.windows, parallelism=2) as harness:
        harness.process(("ann", 5), 1_000)
        harness.process(("ann", 7), 2_000)
        harness.process(("ann", 1), 11_000)
        savepoint = SavepointReader.read(save(harness, tmp_path / "s"))
    windows = sorted(savepoint.window_state("windows"), key=lambda state: state.window.start)
    first, second = TimeWindow(0, 10_000), TimeWindow(10_000, 20_000)
    assert windows == [WindowState("ann", first, (12, 2), {}), WindowState("ann", second, (1, 1), {})]
    assert [(t.time, t.window) for t in sorted(savepoint.timers("windows"))] == [(9_999, first), (19_999, second)]


def test_sessions_in_flight_show_their_bounds_and_elements(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.sessions) as harness:
        harness.process(("ann", 5), 1_000)
        harness.process(("ann", 7), 2_000)
        savepoint = SavepointReader.read(save(harness, tmp_path / "s"))
    assert list(savepoint.window_state("sessions")) == [
        WindowState("ann", TimeWindow(1_000, 7_000), [("ann", 5), ("ann", 7)], {})
    ]


def test_windows_show_the_state_of_their_trigger(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.early_windows) as harness:
        harness.process(("ann", 5), 1_000)
        harness.process(("ann", 7), 2_000)
        savepoint = SavepointReader.read(save(harness, tmp_path / "s"))
    (state,) = savepoint.window_state("early")
    assert (state.window, state.contents) == (TimeWindow(0, 10_000), [("ann", 5), ("ann", 7)])
    assert list(state.states.values()) == [2]


def test_broadcast_state_is_read_by_name_or_descriptor(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.revenue, parallelism=2) as harness:
        harness.process(("tea", 3), input=2)
        harness.process(("tea", 2), input=1)
        savepoint = SavepointReader.read(save(harness, tmp_path / "s"))
    assert savepoint.broadcast_state("revenue", PRICES) == savepoint.broadcast_state("revenue", "prices") == {"tea": 3}
    assert dict(savepoint.keyed_state("revenue")) == {"tea": {"sold": 2}}


# ------------------------------------------------------------------ savepoints that tell of their states

SCHEMAS = {
    "(key)": {"kind": "key", "type": "STRING"},
    "count": {"kind": "value", "type": "LONG"},
    "last": {"kind": "value", "type": "ANY", "ttl": 60_000},
    "recent": {"kind": "list", "type": ["LIST", "ANY"], "ttl": 60_000},
}


@pytest.fixture
def described(tmp_path: Path) -> SavepointReader:
    with TestHarness.of(pipelines.profiles, processing_time=NOW) as harness:
        harness.process(("ann", HOME), 1_000)
        return SavepointReader.read(save(harness, tmp_path / "described", states=SCHEMAS))


def test_states_that_are_known_to_expire_show_without_times(described: SavepointReader) -> None:
    ((_, states),) = described.keyed_state("profiles")
    assert (states["last"], states["recent"]) == ("home", ["home"])


@pytest.mark.parametrize("descriptor", [LAST, ValueStateDescriptor("last")])
def test_a_reader_function_need_not_know_what_expires(described: SavepointReader, descriptor: Any) -> None:
    assert list(described.read_keyed_state("profiles", LastPage(descriptor))) == [("ann", "home")]


def test_a_reader_function_that_asks_for_an_unknown_state_is_refused(described: SavepointReader) -> None:
    with pytest.raises(OperatorError, match="operator 'profiles' has no state 'lst'; did you mean 'last'"):
        list(described.read_keyed_state("profiles", LastPage(ValueStateDescriptor("lst"))))


def test_a_column_of_an_unknown_state_is_refused(described: SavepointReader) -> None:
    with pytest.raises(StateNotFoundError, match="no state 'counts'; did you mean 'count'"):
        described.keyed_state_frame(None, "profiles", {"key": "STRING", "counts": "BIGINT"})  # type: ignore[arg-type]


# ------------------------------------------------------------------ errors


def test_an_unknown_uid_is_refused_with_the_closest_one(savepoint: SavepointReader) -> None:
    with pytest.raises(StateNotFoundError, match="no operator with uid 'profile'; did you mean 'profiles'"):
        savepoint.keyed_state("profile")


def test_an_unknown_broadcast_state_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.revenue) as harness:
        harness.process(("tea", 3), input=2)
        savepoint = SavepointReader.read(save(harness, tmp_path / "s"))
    with pytest.raises(StateNotFoundError, match="no broadcast state 'price'; it has: 'prices'"):
        savepoint.broadcast_state("revenue", "price")


class Token:
    """Goes away in a test."""


class Tokens(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.token = runtime_context.get_state(ValueStateDescriptor("token"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.token.update(Token())


def test_a_class_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestHarness.of(lambda s: s.key_by(lambda v: v).process(Tokens()).uid("tokens")) as harness:
        harness.process("a")
        savepoint = SavepointReader.read(save(harness, tmp_path / "s"))
    monkeypatch.delattr(sys.modules[__name__], "Token")
    with pytest.raises(SavepointError, match=r"operator 'tokens' holds objects of a class .*Token"):
        list(savepoint.keyed_state("tokens"))


def test_metadata_is_read_without_the_state(savepoint: SavepointReader) -> None:
    assert savepoint.metadata.operators["profiles"].kind == "KeyedProcess"
    assert savepoint.metadata.max_parallelism == 128
