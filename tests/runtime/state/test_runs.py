"""Runs: the state of key groups that have outgrown their pages."""

from __future__ import annotations

import gc
import pickle
import random
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.keys import sortable
from scurry.runtime.savepoint.contents import keys_in
from scurry.runtime.savepoint.entries import entries_of
from scurry.runtime.state import writing
from scurry.runtime.state.backend import Index, KeyedStateBackend, stored_entries
from scurry.runtime.state.expiry import Lifetime
from scurry.runtime.state.layout import GROUP_SHIFT, is_run
from scurry.runtime.state.runs import NEVER, Run, built, merged, to_merge, values_of
from scurry.runtime.state.slots import EVENT
from scurry.runtime.state.store import DictStore, RunInfo, StoreKey
from support.cases import cases

GROUPS = 4


class CountingStore(DictStore):
    """Count the bytes of runs that are read and of all that is written."""

    def __init__(self) -> None:
        super().__init__()
        self.read = self.written = 0

    def get_runs(self, runs: Sequence[tuple[StoreKey, RunInfo]]) -> list[Any]:
        self.read += len(runs)
        return super().get_runs(runs)

    def put(self, key: StoreKey, blob: bytes) -> None:
        self.written += len(blob)
        super().put(key, blob)


class ReleasingStore(DictStore):
    """Count how often memory of runs may be given back."""

    released = 0

    def release(self) -> None:
        self.released += 1


def update(store: DictStore, values: dict[Any, Any], now: int = 0, ttl: int | None = None) -> None:
    """Set the values of some keys in one batch; None removes one."""
    backend = KeyedStateBackend("op", store, GROUPS)
    if ttl is not None:
        backend.lifetimes = {"v": Lifetime("value", ttl, False)}
    backend.prefetch(values)
    for key, value in values.items():
        entry = backend.select(key)
        if value is None:
            entry.pop("v", None)
        else:
            entry["v"] = value
    backend.flush(now)


def read(store: DictStore, keys: Sequence[Any]) -> list[Any]:
    backend = KeyedStateBackend("op", store, GROUPS)
    backend.prefetch(keys)
    return [backend.select(key).get("v") for key in keys]


def fire(backend: KeyedStateBackend, until: int) -> list[int]:
    fired: list[int] = []
    backend.fire_due(EVENT, until, lambda time, namespace: fired.append(time))
    return fired


def runs_of(store: DictStore) -> list[Run]:
    return [Run(blob) for (_, kind, _), blob in store.items() if kind == "page" and is_run(blob)]


def begun(store: DictStore) -> set[int]:
    """The groups that are in runs."""
    return {place >> GROUP_SHIFT for (_, kind, place), blob in store.items() if kind == "page" and is_run(blob)}


def filled(count: int = 20_000, store: DictStore | None = None) -> DictStore:
    store = DictStore() if store is None else store
    update(store, {f"key {number}": "x" * 20 for number in range(count)})
    assert len(runs_of(store)) == GROUPS
    return store


class TestLayout:
    def test_a_group_that_has_outgrown_its_pages_has_an_index_and_one_run(self) -> None:
        store = filled()
        assert len([key for key in store if key[1] == "page"]) == 2 * GROUPS

    def test_a_new_group_that_would_have_many_pages_begins_as_a_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(writing.PageWriter, "_split", None)
        store = filled(60_000)
        assert read(store, ["key 7", "key -1"]) == ["x" * 20, None]
        assert len([key for key in store if key[1] == "page"]) == 2 * GROUPS

    def test_a_batch_writes_what_it_has_changed_and_reads_what_it_touches(self) -> None:
        store = filled(store=CountingStore())
        assert isinstance(store, CountingStore)
        store.read = store.written = 0
        update(store, {"key 7": "y"})
        assert store.read == 1
        assert store.written < 1000
        assert read(store, ["key 7", "key 8", "key -1"]) == ["y", "x" * 20, None]

    def test_what_did_not_change_is_not_written(self) -> None:
        store = filled()
        before = dict(store)
        update(store, {"key 7": "x" * 20, "other": None})
        assert store == before

    def test_an_entry_is_written_a_few_times_in_its_life(self) -> None:
        store, chance = CountingStore(), random.Random(1)
        for _ in range(150):
            update(store, {chance.randrange(10**9): "x" * 100 for _ in range(1000)})
        total = sum(map(len, store.values()))
        assert store.written < 9 * total
        assert len(runs_of(store)) < 12 * GROUPS

    def test_entries_that_are_updated_take_at_most_twice_their_space(self) -> None:
        store, chance = filled(20_000), random.Random(1)
        least = sum(map(len, store.values()))
        for batch in range(60):
            update(store, {f"key {chance.randrange(20_000)}": f"{batch:020}" for _ in range(500)})
            assert sum(map(len, store.values())) < 2.5 * least

    def test_a_group_whose_keys_are_all_removed_leaves_nothing(self) -> None:
        store = filled(20_000)
        update(store, {f"key {number}": None for number in range(20_000)})
        assert [kind for _, kind, _ in store] == ["meta"]
        update(store, {"again": 1})
        assert read(store, ["again", "key 1"]) == [1, None]

    def test_a_repeated_batch_writes_the_same(self) -> None:
        store = filled()
        first, second = DictStore(store), DictStore(store)
        for copy in (first, second):
            update(copy, {f"key {number}": "z" for number in range(0, 20_000, 7)})
        assert first == second

    def test_many_pages_of_an_earlier_version_become_runs_group_by_group(self, monkeypatch: pytest.MonkeyPatch) -> None:
        store = DictStore()
        monkeypatch.setattr(writing, "RUN_PAGES", 1 << 30)
        update(store, {f"key {number}": number for number in range(20_000)})
        monkeypatch.undo()
        monkeypatch.setattr(writing, "CLEANED_PAGES", 1)
        for batch in range(1, GROUPS + 1):
            update(store, {f"key {number}": -number for number in range(20)})
            assert len(begun(store)) == batch
        assert stored_entries("op", store) == {
            f"key {number}": {"v": -number if number < 20 else number} for number in range(20_000)
        }


class TestTimers:
    def test_time_reads_only_keys_with_timers_due_and_each_once(self) -> None:
        store = CountingStore()
        backend = KeyedStateBackend("op", store, GROUPS)
        for number in range(20_000):
            backend.select(f"key {number}")["v"] = "x" * 20
            backend.register_timer(EVENT, number, None)
        backend.flush()
        for until, loaded in ((-1, 0), (9, 10), (9, 0), (30, 21)):
            backend = KeyedStateBackend("op", store, GROUPS)
            fired = fire(backend, until)
            assert len(backend.entries) == len(fired) == loaded
            assert fired == sorted(fired)
            backend.flush()
        store.read = 0
        backend = KeyedStateBackend("op", store, GROUPS)
        backend.fire_due(EVENT, 30, lambda time, namespace: None)
        assert store.read == 0

    @pytest.mark.parametrize("times", [20_000, 7, 1], ids=["each its own", "few", "one"])
    def test_many_that_are_due_fire_in_order_of_time_in_parts(
        self, times: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("scurry.runtime.state.backend._LEAST_KEYS", 0)
        store, fired, parts, most = DictStore(), [], 0, 0

        def fire_one(backend: KeyedStateBackend, time: int, namespace: Any) -> None:
            fired.append((time, backend.key))

        backend = KeyedStateBackend("op", store, GROUPS)
        for number in range(20_000):
            backend.select(number)
            backend.register_timer(EVENT, number * 7919 % 20_000 % times, None)
        backend.flush()
        complete = False
        while not complete:
            backend = KeyedStateBackend("op", store, GROUPS, state_bytes=1_000 * 1024)
            complete = backend.fire_due(EVENT, 20_000, partial(fire_one, backend))
            parts, most = parts + 1, max(most, len(backend.entries))
            backend.flush()
        assert [time for time, _ in fired] == sorted(time for time, _ in fired)
        assert sorted(key for _, key in fired) == list(range(20_000))
        assert parts > 2
        assert most < 20_000 / GROUPS + 1_000
        assert stored_entries("op", store) == {}

    def test_many_keys_that_are_only_a_timer_fire_without_being_loaded(self) -> None:
        store = DictStore()
        backend = KeyedStateBackend("op", store, GROUPS)
        for number in range(20_000):
            backend.select(number)
            backend.register_timer(EVENT, number, None)
        backend.flush()
        backend = KeyedStateBackend("op", store, GROUPS)
        loaded: list[int] = []

        def on_timer(time: int, namespace: Any) -> None:
            loaded.append(len(backend.entries))
            if time % 1000 == 0:
                backend.entry["v"] = time

        backend.fire_due(EVENT, 20_000, on_timer)
        assert loaded == [1 + -(-number // 1000) for number in range(20_000)]
        backend.select(7)["v"] = "later"
        backend.flush()
        assert stored_entries("op", store) == {7: {"v": "later"}} | {key: {"v": key} for key in range(0, 20_000, 1000)}

    def test_one_for_a_time_that_has_passed_fires_in_the_next_batch(self) -> None:
        store = filled()
        for until in (50, 60):
            backend = KeyedStateBackend("op", store, GROUPS)
            fired = fire(backend, until)
            backend.select("key 1")
            backend.register_timer(EVENT, 20, None)
            backend.flush()
        assert fired == [20]

    def test_one_that_is_registered_again_as_it_fires_fires_again(self) -> None:
        store = filled()
        for batch in range(3):
            backend = KeyedStateBackend("op", store, GROUPS)
            fired = fire(backend, 20)
            backend.select("key 1")
            backend.register_timer(EVENT, 20, None)
            backend.flush()
            assert fired == [20] * (batch > 0)


class TestExpiry:
    def test_what_has_expired_goes_and_hides_no_value(self) -> None:
        store = DictStore()
        update(store, {f"key {number}": ("x" * 20, 0) for number in range(20_000)}, ttl=1000)
        update(store, {"key 1": ("y", 900)}, now=900, ttl=1000)
        for batch in range(40):
            update(store, {f"new {batch}": ("y", 1500 + batch)}, now=1500 + batch, ttl=1000)
        left = stored_entries("op", store)
        assert sorted(left) == sorted(["key 1", *(f"new {batch}" for batch in range(40))])


class TestDamage:
    def test_a_run_that_is_cut_off_or_another_is_refused(self) -> None:
        blob = built([1], [b"k"], [b"v"])
        for damaged in (blob[:-1], blob[:20], b"", blob + b"x"):
            with pytest.raises(CheckpointCorruptedError, match="the state of a key group is damaged"):
                Run(damaged)
        with pytest.raises(CheckpointCorruptedError, match="not the one of its index"):
            Run(blob, digest=1)

    def test_a_run_in_the_place_of_another_is_found(self) -> None:
        store = filled()
        places = [key for key in store if key[1] == "page" and is_run(store[key])]
        store[places[0]] = store[places[1]]
        with pytest.raises(CheckpointCorruptedError, match="not the one of its index"):
            read(store, [f"key {number}" for number in range(50)])

    def test_a_run_that_is_missing_is_found(self) -> None:
        store = filled()
        for key in [key for key in store if key[1] == "page" and is_run(store[key])]:
            del store[key]
        with pytest.raises(CheckpointCorruptedError, match="a run of its index is missing"):
            read(store, ["key 1"])


def test_readers_of_savepoints_see_the_newest_entry_of_each_key() -> None:
    store = filled(20_000)
    update(store, {"key 1": "y", "key 2": None, "key 3": "z"})
    found = dict(keys_in(entry for entry in entries_of(store, 0) if entry.kind == "page"))
    assert len(found) == 19_999
    assert [found.get(f"key {number}") for number in range(4)] == [{"v": "x" * 20}, {"v": "y"}, None, {"v": "z"}]


#: Few hashes, so that most keys share theirs with others.
KEYS = st.integers(0, 40).map(lambda number: (number % 5, f"k{number}"))
BATCHES = st.lists(
    st.dictionaries(KEYS, st.one_of(st.none(), st.binary(min_size=1, max_size=3)), min_size=1, max_size=12),
    min_size=1,
    max_size=12,
)


@settings(max_examples=cases(200), deadline=None)
@given(BATCHES, st.booleans())
def test_runs_and_their_merges_agree_with_a_dict(batches: list[dict[Any, bytes | None]], merges: bool) -> None:
    model: dict[Any, bytes] = {}
    runs: list[tuple[RunInfo, Run]] = []

    def add(blob: bytes) -> None:
        run = Run(blob)
        runs.append((RunInfo(len(runs), run.digest, len(run.hashes), len(blob)), run))

    for batch in batches:
        for key, value in batch.items():
            model[key] = value or b""
        keys = list(batch)
        values = [batch[key] or b"" for key in keys]
        names, lengths = [sortable(name) for _, name in keys], [len(name) for _, name in keys]
        add(built([hashed for hashed, _ in keys], names, values, [lengths, None]))
        while merges and (merge := to_merge([info for info, _ in runs])) is not None:
            blob = merged([run for _, run in runs[: -merge.newest - 1 : -1]], merge.all)
            del runs[-merge.newest :]
            if blob is not None:
                add(blob)
        keys = list({(number % 5, f"k{number}") for number in range(42)})
        newest_first = [run for _, run in reversed(runs)]
        found = values_of(newest_first, [key for _, key in keys], np.array([hashed for hashed, _ in keys], np.uint32))
        assert found == [model.get(key) or None for key in keys]
        for run in newest_first:
            assert list(run.hashes) == sorted(run.hashes)
            assert all(stored.due == (len(stored.key) - 1, NEVER) for stored in run)


def test_the_index_of_an_earlier_version_has_no_runs() -> None:
    index = Index()
    del index.__dict__["runs"]
    assert pickle.loads(pickle.dumps(index)).runs == []


def test_ever_new_keys_with_a_time_to_live_are_bounded_by_those_alive() -> None:
    store = DictStore()
    for batch in range(40):
        now = batch * 200
        update(store, {f"{batch} {number}": ("x" * 20, now) for number in range(5000)}, now=now, ttl=2000)
    assert len(stored_entries("op", store)) < 2 * 10 * 5000


class Kept:
    """A value whose life can be followed."""


class TestMemory:
    def test_memory_of_runs_is_given_back_while_a_block_of_keys_is_read(self) -> None:
        store = ReleasingStore()
        filled(store=store)
        store.released = 0
        read(store, range(2000))
        assert store.released >= GROUPS

    def backend(self, store: DictStore) -> KeyedStateBackend:
        return KeyedStateBackend("op", store, GROUPS, state_bytes=1_000)

    def test_a_backend_is_full_of_keys_that_are_new_or_in_runs_not_of_those_in_pages(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("scurry.runtime.state.backend._LEAST_KEYS", 100)
        monkeypatch.setattr(writing, "RUN_PAGES", 1 << 30)
        store = DictStore()
        new = self.backend(store)
        for number in range(2_000):
            assert new.is_full == (number > 100)
            new.select(number)["v"] = number
        new.flush()
        in_pages = self.backend(store)
        in_pages.prefetch(range(2_000))
        assert not in_pages.is_full
        monkeypatch.setattr(writing, "RUN_PAGES", 0)
        in_pages.flush()
        in_runs = self.backend(store)
        in_runs.prefetch(range(100))
        assert not in_runs.is_full
        in_runs.prefetch(range(200))
        assert in_runs.is_full

    def test_what_a_backend_held_is_free_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(writing, "RUN_PAGES", 0)
        store = DictStore()
        gc.disable()
        try:
            for _ in range(2):
                backend = self.backend(store)
                backend.prefetch(range(10))
                entry = backend.select(1)
                entry["v"] = kept = Kept()
                held = weakref.ref(kept)
                backend.flush()
                del entry, kept
                assert held() is not None
                backend.forget()
                assert held() is None
        finally:
            gc.enable()
