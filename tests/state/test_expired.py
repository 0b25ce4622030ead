"""Expired state does not travel: restoring leaves it out, and who reads a savepoint does not see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Time
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, ProcessWindowFunction
from scurry.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.runtime.savepoint import restore
from scurry.runtime.savepoint.reading import open_savepoint
from scurry.runtime.savepoint.restore import Restore
from scurry.runtime.state.backend import stored_entries
from scurry.state import SavepointReader
from scurry.testing import TestHarness
from support.state.harness_savepoints import NOW, save, start_from

TTL = 60_000


def expiring(descriptor: Any, full_snapshot: bool | None = None) -> Any:
    """A descriptor with a time to live; cleaned up in the background, only in full snapshots (True), or never."""
    builder = StateTtlConfig.new_builder(TTL)
    if full_snapshot is not None:
        builder.disable_cleanup_in_background()
    if full_snapshot:
        builder.cleanup_full_snapshot()
    descriptor.enable_time_to_live(builder.build())
    return descriptor


class Visits(KeyedProcessFunction):
    def __init__(self, full_snapshot: bool | None = None) -> None:
        self.full_snapshot = full_snapshot

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(expiring(ValueStateDescriptor("last"), self.full_snapshot))
        self.pages = runtime_context.get_list_state(expiring(ListStateDescriptor("pages"), self.full_snapshot))
        self.times = runtime_context.get_map_state(expiring(MapStateDescriptor("times"), self.full_snapshot))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.last.update(value[1])
        self.pages.add(value[1])
        self.times.put(value[1], 1)


def visits(full_snapshot: bool | None = None) -> Any:
    return lambda pairs: pairs.key_by(lambda pair: pair[0]).process(Visits(full_snapshot)).uid("visits")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A savepoint: ann came 70 and 30 seconds before it, bob 50, cid 70."""
    return savepoint(tmp_path)


def savepoint(tmp_path: Path, full_snapshot: bool | None = None) -> str:
    with TestHarness.of(visits(full_snapshot), processing_time=NOW - 70_000) as harness:
        with harness.batch():
            harness.process(("ann", "home"))
            harness.process(("cid", "home"))
        harness.advance_processing_time(NOW - 50_000)
        harness.process(("bob", "home"))
        harness.advance_processing_time(NOW - 30_000)
        harness.process(("ann", "shop"))
        return save(harness, tmp_path / "savepoint", states=harness._job.state_schemas["visits"])


def restored(monkeypatch: pytest.MonkeyPatch, path: str, now: int, build: Any = None) -> dict[Any, Any]:
    """What is in the stores after a restore at this time."""
    monkeypatch.setattr(restore, "wall_clock_ms", lambda: now)
    with start_from(path, build or visits()) as harness:
        found: dict[Any, Any] = {}
        for store in harness._levels.stores.values():
            found |= stored_entries("visits", store)
        return found


def test_who_reads_a_savepoint_sees_what_was_alive_when_it_was_taken(path: str) -> None:
    assert dict(SavepointReader.read(path).keyed_state("visits")) == {
        "ann": {"last": "shop", "pages": ["shop"], "times": {"shop": 1}},
        "bob": {"last": "home", "pages": ["home"], "times": {"home": 1}},
    }


def test_windows_are_read_without_what_had_expired(tmp_path: Path) -> None:
    class Count(ProcessWindowFunction):
        def process(self, key: str, context: Any, elements: Any) -> Any:
            context.window_state().get_state(expiring(ValueStateDescriptor("fired"))).update(1)
            return []

        def clear(self, context: Any) -> None:
            pass

    def windows(pairs: Any) -> Any:
        keyed = pairs.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
        return keyed.allowed_lateness(10**9).process(Count()).uid("windows")

    with TestHarness.of(windows, processing_time=NOW - 70_000) as harness:
        harness.process(("ann", "home"), 10)
        harness.advance_watermark(2000)
        schemas = harness._job.state_schemas["windows"]
        reader = SavepointReader.read(save(harness, tmp_path / "savepoint", states=schemas))
    assert [(window.contents, window.states) for window in reader.window_state("windows")] == [([("ann", "home")], {})]


def test_a_restore_leaves_out_what_has_expired_by_then(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = restored(monkeypatch, path, NOW)
    assert set(found) == {"ann", "bob"}
    assert found["ann"]["pages"] == [("shop", NOW - 30_000)]
    assert set(restored(monkeypatch, path, NOW + 15_000)) == {"ann"}
    assert restored(monkeypatch, path, NOW + TTL) == {}


@pytest.mark.parametrize(("full_snapshot", "kept"), [(True, set()), (False, {"ann", "bob", "cid"})])
def test_a_restore_does_as_the_cleanup_is_set(
    full_snapshot: bool, kept: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = savepoint(tmp_path, full_snapshot)
    assert set(restored(monkeypatch, path, NOW + TTL, visits(full_snapshot))) == kept


def test_what_is_restored_alive_is_cleaned_up_when_its_time_comes(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore, "wall_clock_ms", lambda: NOW)
    with start_from(path, visits()) as harness:
        harness.advance_processing_time(NOW + 2 * TTL)
        harness.process(("new", "home"))
        (store,) = harness._levels.stores.values()
        assert set(stored_entries("visits", store)) == {"new"}


def test_the_state_in_which_a_batch_job_ends_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = Configuration.from_dict({"scurry.runner": "local", "execution.runtime-mode": "BATCH"})
    configuration.set_string("scurry.final-savepoint.dir", str(tmp_path))
    env = StreamExecutionEnvironment(configuration)
    pairs = env.from_collection([("ann", "home"), ("bob", "home")])
    pairs.key_by(lambda pair: pair[0]).process(Visits()).uid("visits").print()
    path = env.execute().get_savepoint_path()
    assert path is not None
    taken = SavepointReader.read(path).metadata.created_ms
    assert set(restored(monkeypatch, path, taken)) == {"ann", "bob"}
    assert restored(monkeypatch, path, taken + TTL) == {}
    monkeypatch.setattr(restore, "wall_clock_ms", lambda: taken)
    with start_from(path, visits()) as harness:
        harness.advance_processing_time(taken + 2 * TTL)
        harness.process(("new", "home"))
        (store,) = harness._levels.stores.values()
        assert set(stored_entries("visits", store)) == {"new"}


def test_a_restore_passes_on_what_cannot_expire(path: str) -> None:
    class Plain(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> None:
            pass

    def plain(pairs: Any) -> Any:
        return pairs.key_by(lambda pair: pair[0]).process(Plain()).uid("other")

    with TestHarness.of(plain) as harness:
        assert Restore(open_savepoint(path), harness._plan, allow_non_restored=True)._filter() is None
