from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.datastream.functions import AggregateFunction
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from scurry.runtime.keys import key_hash
from scurry.runtime.state import writing
from scurry.runtime.state.backend import PAGE_BYTES, Index, KeyedStateBackend, Meta, stored_entries, take_over
from scurry.runtime.state.slots import EVENT, PROCESSING
from scurry.runtime.state.states import create_state
from scurry.runtime.state.store import DictStore, StoreKey
from support.cases import cases


class CountingStore(DictStore):
    """Counts what crosses the boundary that is Spark's state store in production."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.bytes = 0

    def get(self, key: StoreKey, default: Any = None) -> Any:
        self.calls["get"] += 1
        blob = super().get(key)
        self.bytes += len(blob or b"")
        return blob

    def get_many(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        self.calls["exchange"] += bool(keys)
        return super().get_many(keys)

    def put(self, key: StoreKey, blob: bytes) -> None:
        self.calls["put"] += 1
        self.bytes += len(blob)
        super().put(key, blob)

    def remove(self, key: StoreKey) -> None:
        self.calls["remove"] += 1
        super().remove(key)

    def reset(self) -> None:
        self.calls.clear()
        self.bytes = 0


def backend_on(store: DictStore, page_bytes: int = 200) -> KeyedStateBackend:
    return KeyedStateBackend("op", store, 1, page_bytes)


def pages(store: DictStore) -> list[int]:
    """The numbers of pages, without the index that takes the place of the first when it has split."""
    return sorted(
        number
        for (_, kind, number), blob in store.items()
        if kind == "page" and not isinstance(pickle.loads(blob), Index)
    )


def fired(backend: KeyedStateBackend, domain: int, until: int) -> list[tuple[int, Any, Any]]:
    found: list[tuple[int, Any, Any]] = []
    backend.fire_due(domain, until, lambda time, namespace: found.append((time, backend.key, namespace)))
    return found


def fill(store: DictStore, count: int, page_bytes: int = 200) -> None:
    backend = backend_on(store, page_bytes)
    for key in range(count):
        backend.select(key)["n"] = key
    backend.flush()


@pytest.mark.usefixtures("in_pages")
class TestPages:
    def test_keys_share_a_page_until_it_is_full(self) -> None:
        store = DictStore()
        fill(store, 3)
        assert pages(store) == [1]

    def test_a_page_that_grows_is_split_and_leaves_nothing_behind(self) -> None:
        store = DictStore()
        fill(store, 100)
        assert len(pages(store)) >= 8
        assert not set(pages(store)) & pickle.loads(store["op", "page", 1]).splits
        assert {key: backend_on(store).select(key) for key in range(100)} == {key: {"n": key} for key in range(100)}

    def test_a_single_key_is_never_split(self) -> None:
        store = DictStore()
        backend = backend_on(store)
        backend.select("k")["list"] = list(range(10_000))
        backend.flush()
        assert pages(store) == [1]

    def test_keys_without_state_leave_no_page(self) -> None:
        store = DictStore()
        fill(store, 100)
        backend = backend_on(store)
        for key in range(100):
            backend.select(key).clear()
        backend.flush()
        assert pages(store) == []

    def test_the_size_of_what_was_written_is_told(self) -> None:
        store = CountingStore()
        fill(store, 100)
        backend = backend_on(store)
        backend.select(7)["n"] = 1000
        before = dict(store)
        size = backend.flush()
        (changed,) = [key for key in store if key[1] == "page" and store[key] != before.get(key)]
        assert size is not None and size.written == len(store[changed])

    def test_restored_state_is_counted(self) -> None:
        saved, store = DictStore(), DictStore()
        fill(saved, 100)
        found = [(kind, number, blob) for (_, kind, number), blob in saved.items() if kind == "page"]
        for some in (found[:3], [("meta", 0, pickle.dumps(Meta(clock=5), 5))], found[3:]):
            take_over("op", some, store)
        backend = backend_on(store)
        assert (backend.meta.clock, backend.meta.size) == (5, sum(len(blob) for _, _, blob in found))

    def test_the_size_of_state_that_an_earlier_version_began_is_unknown(self) -> None:
        store, old = DictStore(), Meta()
        fill(store, 100)
        del old.__dict__["size"]
        store.put(("op", "meta", 0), pickle.dumps(old, 5))
        assert backend_on(store).flush() is None

    def test_operators_do_not_see_each_other(self) -> None:
        store = DictStore()
        fill(store, 1)
        assert KeyedStateBackend("other", store).select(0) == {}

    def test_what_did_not_change_is_not_written(self) -> None:
        store = CountingStore()
        fill(store, 100)
        store.reset()
        backend = backend_on(store)
        for key in range(100):
            backend.select(key)
        backend.flush()
        assert store.calls["put"] == store.calls["remove"] == 0


@pytest.fixture(scope="module")
def stores() -> dict[int, CountingStore]:
    """Stores by number of keys, filled once: each test works on keys of its own."""
    stores = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "RUN_PAGES", 1 << 30)
        for count in (600, 60_000):
            stores[count] = CountingStore()
            fill(stores[count], count, PAGE_BYTES)
    return stores


@pytest.mark.usefixtures("in_pages")
class TestCost:
    """A batch costs what it touches, however much state there is."""

    def touch(self, store: CountingStore, keys: list[int]) -> tuple[int, int, int]:
        store.reset()
        backend = KeyedStateBackend("op", store, 1)
        for key in keys:
            backend.select(key)["n"] = -key - store.calls["put"] - 1
        backend.flush()
        return store.calls["get"], store.calls["put"], store.bytes

    def test_touching_keys_reads_and_writes_their_pages_only(self, stores: dict[int, CountingStore]) -> None:
        for store in stores.values():
            gets, puts, moved = self.touch(store, [1, 300, 500])
            assert gets <= 1 + 1 + 3  # the operator's meta entry, the index and a page for each key
            assert puts <= 3 + 1
            assert moved < 3 * 2 * PAGE_BYTES + 2 * len(store["op", "page", 1])

    def test_a_hundred_times_the_state_costs_about_the_same(self, stores: dict[int, CountingStore]) -> None:
        small, large = (self.touch(stores[count], [7]) for count in (600, 60_000))
        assert large[:2] == small[:2]
        assert large[2] - len(stores[60_000]["op", "page", 1]) < 3 * small[2]

    def test_time_that_passes_without_timers_due_reads_no_page(self, stores: dict[int, CountingStore]) -> None:
        store = stores[60_000]
        backend = KeyedStateBackend("op", store, 1)
        for key in (3, 4):
            backend.select(key)
            backend.register_timer(EVENT, 1_000_000, None)
        backend.flush()
        store.reset()
        backend = KeyedStateBackend("op", store, 1)
        assert fired(backend, EVENT, 999_999) == []
        backend.flush()
        assert (store.calls["get"], store.calls["put"]) == (1, 0)

    def test_firing_reads_the_pages_with_timers_due(self, stores: dict[int, CountingStore]) -> None:
        store = stores[60_000]
        backend = KeyedStateBackend("op", store, 1)
        for key, time in [(11, 50), (55_000, 60), (30_000, 5_000)]:
            backend.select(key)
            backend.register_timer(PROCESSING, time, None)
        backend.flush()
        store.reset()
        assert fired(KeyedStateBackend("op", store, 1), PROCESSING, 60) == [(50, 11, None), (60, 55_000, None)]
        assert store.calls["get"] == 1 + 1 + 2  # meta, index, pages

    def test_keys_asked_for_beforehand_are_read_in_two_exchanges(self, stores: dict[int, CountingStore]) -> None:
        store = stores[60_000]
        store.reset()
        backend = KeyedStateBackend("op", store, 1)
        backend.prefetch(list(range(0, 60_000, 1000)))
        assert store.calls["exchange"] == 1 + 2  # meta, then the index, then all pages
        before = store.calls["get"]
        assert backend.select(3000)["n"] == 3000
        assert store.calls["get"] == before


@pytest.mark.usefixtures("in_pages")
class TestPackedEntries:
    def written(self, count: int) -> DictStore:
        store = DictStore()
        backend = backend_on(store)
        backend.packs_entries = True
        for key in range(count):
            backend.select(key)["n"] = key
        backend.flush()
        return store

    def test_only_keys_that_are_touched_are_decoded(self) -> None:
        backend = backend_on(self.written(100))
        backend.packs_entries = True
        assert backend.select(7) == {"n": 7}
        page: dict[Any, Any] = next(page for page in backend.pages.values() if 7 in page)
        assert len(page) > 1
        assert {key for key, entry in page.items() if type(entry) is not bytes} == {7}

    def test_other_operators_and_tools_read_them(self) -> None:
        store = self.written(100)
        assert {key: backend_on(store).select(key) for key in range(100)} == {key: {"n": key} for key in range(100)}
        assert stored_entries("op", store) == {key: {"n": key} for key in range(100)}


@pytest.mark.usefixtures("in_pages")
class TestSizesOfPages:
    def test_pages_of_which_batches_touch_many_keys_grow_larger(self) -> None:
        sparse, dense = DictStore(), DictStore()
        for store in (sparse, dense):
            for start in range(0, 2000, 200):
                backend = backend_on(store)
                if store is dense:
                    backend.prefetch(list(range(start, start + 200)))
                for key in range(start, start + 200):
                    backend.select(key)["n"] = key
                backend.flush()
        assert len(pages(dense)) * 2 < len(pages(sparse))

    def test_a_batch_that_touches_few_keys_leaves_large_pages_whole(self) -> None:
        store = DictStore()
        backend = backend_on(store)
        backend.prefetch(list(range(2000)))
        for key in range(2000):
            backend.select(key)["n"] = key
        backend.flush()
        before = pages(store)
        backend = backend_on(store)
        backend.select(7)["n"] = -7
        backend.flush()
        assert pages(store) == before

    def test_a_batch_that_touches_few_keys_loses_none_of_a_large_page_of_small_ones(self) -> None:
        store = DictStore()
        backend = backend_on(store, PAGE_BYTES)
        backend.prefetch(list(range(2000)))
        for key in range(2000):
            backend.select(key)["n"] = key
        backend.flush()
        assert any(len(blob) > 2 * PAGE_BYTES for (_, kind, _), blob in store.items() if kind == "page")
        for touched in range(0, 2000, 100):
            backend = backend_on(store, PAGE_BYTES)
            backend.select(touched)["n"] = -touched
            backend.flush()
        found = stored_entries("op", store)
        assert found == {key: {"n": key if key % 100 else -key} for key in range(2000)}


@pytest.mark.usefixtures("in_pages")
class TestKeyGroups:
    def test_no_page_holds_keys_of_two_groups(self) -> None:
        store = DictStore()
        backend = KeyedStateBackend("op", store, 16)
        for key in range(100):
            backend.select(key)["n"] = key
        backend.flush()
        for (_, kind, number), blob in store.items():
            if kind == "page":
                assert {key_hash(key) % 16 for key in pickle.loads(blob)} == {number >> 32}

    def test_time_that_passes_reads_only_groups_on_which_something_is_due(self) -> None:
        store = CountingStore()
        backend = KeyedStateBackend("op", store, 16)
        for key in range(100):
            backend.select(key)
            backend.register_timer(EVENT, 1000 + key, None)
        backend.flush()
        store.reset()
        backend = KeyedStateBackend("op", store, 16)
        assert fired(backend, EVENT, 1001) == [(1000, 0, None), (1001, 1, None)]
        assert store.calls["get"] == 1 + len({key_hash(0) % 16, key_hash(1) % 16})


class TestTimers:
    def test_fire_in_time_order_across_keys(self) -> None:
        backend = backend_on(DictStore())
        for key, time in [("a", 30), ("b", 10), ("a", 20)]:
            backend.select(key)
            backend.register_timer(EVENT, time, None)
        assert fired(backend, EVENT, 25) == [(10, "b", None), (20, "a", None)]
        assert fired(backend, EVENT, 30) == [(30, "a", None)]

    def test_are_one_per_key_time_and_namespace(self) -> None:
        backend = backend_on(DictStore())
        backend.select("a")
        for namespace in (None, "w", None):
            backend.register_timer(EVENT, 5, namespace)
        assert sorted(fired(backend, EVENT, 5), key=repr) == [(5, "a", "w"), (5, "a", None)]

    def test_deleted_ones_do_not_fire(self) -> None:
        backend = backend_on(DictStore())
        backend.select("a")
        backend.register_timer(EVENT, 5, None)
        backend.delete_timer(EVENT, 5, None)
        assert fired(backend, EVENT, 5) == []

    def test_deleted_and_registered_again_fire_once(self) -> None:
        backend = backend_on(DictStore())
        backend.select("a")
        backend.register_timer(EVENT, 5, None)
        backend.delete_timer(EVENT, 5, None)
        backend.register_timer(EVENT, 5, None)
        assert fired(backend, EVENT, 5) == [(5, "a", None)]

    def test_domains_are_apart(self) -> None:
        backend = backend_on(DictStore())
        backend.select("a")
        backend.register_timer(EVENT, 5, None)
        assert fired(backend, PROCESSING, 100) == []

    def test_registered_while_firing_fire_in_the_same_pass_if_due(self) -> None:
        backend = backend_on(DictStore())
        backend.select("a")
        backend.register_timer(EVENT, 1, None)
        times: list[int] = []

        def again(time: int, namespace: Any) -> None:
            times.append(time)
            backend.register_timer(EVENT, time + 2, None)

        backend.fire_due(EVENT, 6, again)
        assert times == [1, 3, 5]
        assert backend.entry[EVENT] == {(7, None)}


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return (0, 0)

    def add(self, value: Any, accumulator: Any) -> Any:
        return (accumulator[0] + value, accumulator[1] + 1)

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return (acc_a[0] + acc_b[0], acc_a[1] + acc_b[1])


DESCRIPTORS: dict[str, Any] = {
    "value": ValueStateDescriptor("v"),
    "list": ListStateDescriptor("l"),
    "map": MapStateDescriptor("m"),
    "reducing": ReducingStateDescriptor("r", lambda a, b: a + b),
    "aggregating": AggregatingStateDescriptor("a", Mean()),
}

KEYS = st.sampled_from(["a", "b", 1, 2, b"n", *(f"key {n}" for n in range(20))])
NUMBERS = st.integers(0, 9)
STATE_STEP = st.tuples(st.sampled_from(["add", "clear", "remove"]), st.sampled_from(sorted(DESCRIPTORS)), NUMBERS)
TIMER_STEP = st.tuples(
    st.sampled_from(["register", "delete", "advance"]), st.sampled_from([EVENT, PROCESSING]), st.integers(0, 30)
)
STEPS = st.lists(st.tuples(KEYS, STATE_STEP | TIMER_STEP), max_size=60)


class Model:
    """The same states and timers in plain dicts."""

    def __init__(self) -> None:
        self.states: dict[tuple[str, Any], Any] = {}
        self.timers: set[tuple[int, int, Any]] = set()

    def add(self, kind: str, key: Any, number: int) -> None:
        old = self.states.get((kind, key))
        new: Any
        if kind == "value":
            new = number
        elif kind == "list":
            new = [*(old or []), number]
        elif kind == "map":
            new = {**(old or {}), number: -number}
        elif kind == "reducing":
            new = (old or 0) + number
        else:
            new = ((old or (0, 0))[0] + number, (old or (0, 0))[1] + 1)
        self.states[kind, key] = new

    def read(self, kind: str, key: Any) -> Any:
        found = self.states.get((kind, key))
        if kind == "aggregating" and found is not None:
            return found[0] / found[1]
        if found is None and kind in ("list", "map"):
            return [] if kind == "list" else {}
        return found

    def due(self, domain: int, until: int) -> set[tuple[int, Any]]:
        fired = {timer for timer in self.timers if timer[0] == domain and timer[1] <= until}
        self.timers -= fired
        return {(time, key) for _, time, key in fired}


class Subject:
    """The states of one operator on a backend that is thrown away and loaded again at will."""

    def __init__(self, max_parallelism: int, packs: Iterator[bool]) -> None:
        self.store = DictStore()
        self.max_parallelism = max_parallelism
        self.packs = packs
        self.backend: KeyedStateBackend
        self.reload()

    def reload(self) -> None:
        if hasattr(self, "backend"):
            size = self.backend.flush()
            pages = [len(blob) for (_, kind, _), blob in self.store.items() if kind == "page"]
            assert size is not None and size.total == sum(pages)
        self.backend = KeyedStateBackend("op", self.store, self.max_parallelism, page_bytes=150)
        self.backend.packs_entries = next(self.packs)
        self.states = {
            kind: create_state(self.backend, descriptor, descriptor.name, lambda: 0)
            for kind, descriptor in DESCRIPTORS.items()
        }

    def add(self, kind: str, number: int) -> None:
        state = self.states[kind]
        if kind == "value":
            state.update(number)
        elif kind == "map":
            state.put(number, -number)
        else:
            state.add(number)

    def read(self, kind: str) -> Any:
        state = self.states[kind]
        if kind == "value":
            return state.value()
        if kind == "list":
            return list(state.get())
        return dict(state.items()) if kind == "map" else state.get()


@pytest.mark.usefixtures("layout")
@settings(max_examples=cases(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([1, 4, 128]),
    st.sampled_from([(False,), (True,), (True, False)]),
    st.lists(st.tuples(st.booleans(), STEPS), max_size=8),
)
def test_any_operations_over_any_batches_agree_with_dicts(
    max_parallelism: int, packs: tuple[bool, ...], batches: list[Any]
) -> None:
    subject, model = Subject(max_parallelism, cycle(packs)), Model()
    touched: set[Any] = set()
    for is_prefetched, batch in batches:
        if is_prefetched:
            subject.backend.prefetch([key for key, _ in batch])
            touched.update(key for key, _ in batch)
        for key, (action, what, number) in batch:
            backend = subject.backend
            backend.select(key)
            touched.add(key)
            if action == "add":
                subject.add(what, number)
                model.add(what, key, number)
            elif action == "clear":
                subject.states[what].clear()
                model.states.pop((what, key), None)
            elif action == "remove":
                subject.states["map"].remove(number)
                mapping = model.states.get(("map", key), {})
                mapping.pop(number, None)
                if not mapping:
                    model.states.pop(("map", key), None)
            elif action == "register":
                backend.register_timer(what, number, None)
                model.timers.add((what, number, key))
            elif action == "delete":
                backend.delete_timer(what, number, None)
                model.timers.discard((what, number, key))
            else:
                found = fired(backend, what, number)
                assert [time for time, _, _ in found] == sorted(time for time, _, _ in found)
                assert {(time, k) for time, k, _ in found} == model.due(what, number)
                assert len(found) == len(set(found))
        subject.reload()
    for key in touched:
        subject.backend.select(key)
        for kind in DESCRIPTORS:
            assert subject.read(kind) == model.read(kind, key)
    for kind, descriptor in DESCRIPTORS.items():
        subject.reload()
        keys = subject.backend.keys_with(descriptor.name, range(max_parallelism))
        assert sorted(map(repr, keys)) == sorted(repr(key) for known, key in model.states if known == kind)
    for domain in (EVENT, PROCESSING):
        assert {(time, key) for time, key, _ in fired(subject.backend, domain, 99)} == model.due(domain, 99)


TOUCHES = st.lists(st.tuples(st.integers(0, 1500), st.integers(1, 900), st.booleans(), st.booleans()), max_size=6)


@pytest.mark.usefixtures("layout")
@settings(max_examples=cases(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.booleans(), st.sampled_from([100, 1000, 4096]), TOUCHES)
def test_batches_that_touch_many_or_few_keys_keep_all_of_them(packs: bool, page_bytes: int, touches: list[Any]) -> None:
    store = DictStore()
    expected: dict[int, Any] = {}
    for number, (first, count, is_prefetched, is_removed) in enumerate(touches):
        backend = backend_on(store, page_bytes)
        backend.packs_entries = packs
        keys = range(first, first + count)
        if is_prefetched:
            backend.prefetch(keys)
        for key in keys:
            entry = backend.select(key)
            if is_removed:
                entry.clear()
                expected.pop(key, None)
            else:
                expected[key] = {"n": number}
                entry["n"] = number
        backend.flush()
        assert stored_entries("op", store) == expected
