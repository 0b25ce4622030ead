"""State with a time to live goes without being touched again, a bounded number of pages per batch."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from scurry.common import Time
from scurry.datastream.functions import KeyedBroadcastProcessFunction, KeyedProcessFunction, ProcessWindowFunction
from scurry.datastream.state import MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.runtime.state.backend import Index, KeyedStateBackend, Meta
from scurry.runtime.state.expiry import Lifetime
from scurry.runtime.state.store import DictStore, StoreKey
from scurry.runtime.state.writing import CLEANED_PAGES
from scurry.testing import TestHarness
from support.runtime.expiring_state import GONE, TTL, Seen, contents, expiring, seen, splits, stored


def fill(harness: TestHarness, count: int, name: str = "key") -> None:
    with harness.batch():
        for number in range(count):
            harness.process((f"{name} {number}", "x" * 20))


@pytest.mark.usefixtures("layout")
class TestWhatGoes:
    @pytest.mark.parametrize("kind", ["value", "list", "map"])
    def test_a_key_that_is_not_touched_again_goes_when_others_come(self, kind: str) -> None:
        with TestHarness.of(seen(Seen(kinds=kind)), processing_time=1000) as harness:
            harness.process(("a", "x"))
            harness.advance_processing_time(1000 + GONE)
            harness.process(("b", "x"))
            assert set(stored(harness)) == {"b"}

    def test_what_is_alive_stays(self) -> None:
        with TestHarness.of(seen(), processing_time=1000) as harness:
            harness.process(("a", "x"))
            harness.advance_processing_time(1000 + TTL - 1)
            harness.process(("b", "x"))
            assert set(stored(harness)) == {"a", "b"}

    def test_elements_of_lists_and_maps_go_one_by_one(self) -> None:
        with TestHarness.of(seen(), max_parallelism=1, processing_time=1000) as harness:
            harness.process(("a", "x"))
            harness.advance_processing_time(1000 + TTL - 1)
            harness.process(("a", "y"))
            harness.advance_processing_time(1000 + GONE)
            harness.process(("b", "x"))
            stamp = 1000 + TTL - 1
            assert stored(harness)["a"] == {"last": ("y", stamp), "all": [("y", stamp)], "by_text": {"y": ("y", stamp)}}

    def test_writing_puts_it_off(self) -> None:
        with TestHarness.of(seen(Seen(kinds="value")), processing_time=1000) as harness:
            for step in range(4):
                harness.advance_processing_time(1000 + step * TTL // 2)
                harness.process(("a", "x"))
            harness.advance_processing_time(1000 + 2 * TTL)
            harness.process(("b", "x"))
            assert set(stored(harness)) == {"a", "b"}

    @pytest.mark.parametrize(("renew", "kept"), [(False, False), (True, True)])
    def test_reading_puts_it_off_where_that_renews(self, renew: bool, kept: bool) -> None:
        def settings(builder: StateTtlConfig.Builder) -> StateTtlConfig.Builder:
            return builder.update_ttl_on_read_and_write() if renew else builder

        class Once(Seen):
            def process_element(self, value: Any, ctx: Any) -> Any:
                if self.last.value() is None:
                    self.last.update(value[1])

        with TestHarness.of(seen(Once(settings)), processing_time=1000) as harness:
            harness.process(("a", "x"))
            harness.advance_processing_time(1000 + TTL - 1)
            harness.process(("a", "x"))
            harness.advance_processing_time(1000 + GONE)
            harness.process(("b", "x"))
            assert ("a" in stored(harness)) == kept

    def test_timers_stay_and_find_the_state_gone(self) -> None:
        class Alarm(Seen):
            def process_element(self, value: Any, ctx: Any) -> Any:
                self.last.update(value[1])
                ctx.timer_service().register_event_time_timer(50)

            def on_timer(self, timestamp: int, ctx: Any) -> Any:
                yield ctx.get_current_key(), self.last.value()

        with TestHarness.of(seen(Alarm()), processing_time=1000) as harness:
            harness.process(("a", "x"), 1)
            harness.advance_processing_time(1000 + GONE)
            harness.process(("b", "x"), 1)
            assert set(stored(harness)) == {"a", "b"}
            harness.advance_watermark(60)
            assert sorted(harness.outputs()) == [("a", None), ("b", "x")]

    def test_state_without_a_time_to_live_stays(self) -> None:
        class Both(Seen):
            def open(self, runtime_context: Any) -> None:
                super().open(runtime_context)
                self.name = runtime_context.get_state(ValueStateDescriptor("name"))

            def process_element(self, value: Any, ctx: Any) -> Any:
                self.last.update(value[1])
                self.name.update("kept")

        with TestHarness.of(seen(Both()), processing_time=1000) as harness:
            harness.process(("a", "x"))
            harness.advance_processing_time(1000 + GONE)
            harness.process(("b", "x"))
            assert stored(harness)["a"] == {"name": "kept"}

    def test_state_of_windows_goes(self) -> None:
        class Last(ProcessWindowFunction):
            def process(self, key: str, context: Any, elements: Any) -> Any:
                context.window_state().get_state(expiring(ValueStateDescriptor("last"))).update(1)
                return []

            def clear(self, context: Any) -> None:
                pass

        def windows(pairs: Any) -> Any:
            return (
                pairs.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(1))).process(Last())
            )

        with TestHarness.of(windows, processing_time=1000) as harness:
            harness.process(("a", "x"), 10)
            harness.advance_watermark(2000)
            assert list(stored(harness)) == ["a"]
            harness.advance_processing_time(1000 + GONE)
            harness.process(("b", "x"), 3000)
            assert list(stored(harness)) == ["b"]

    def test_batches_that_touch_no_state_clean_nothing(self) -> None:
        with TestHarness.of(seen(), processing_time=1000) as harness:
            harness.process(("a", "x"))
            harness.advance_processing_time(1000 + 10 * TTL)
            assert list(stored(harness)) == ["a"]


@pytest.mark.usefixtures("layout")
class TestSettings:
    def keeps(self, function: Any) -> bool:
        """Whether an expired key that nobody touches stays."""
        with TestHarness.of(seen(function), processing_time=1000) as harness:
            harness.process(("a", "x"))
            harness.advance_processing_time(1000 + GONE)
            harness.process(("b", "x"))
            return "a" in stored(harness)

    def test_cleanup_in_the_background_can_be_disabled(self) -> None:
        assert self.keeps(Seen(lambda builder: builder.disable_cleanup_in_background()))

    def test_full_snapshots_do_not_clean_the_running_state(self) -> None:
        assert self.keeps(Seen(lambda builder: builder.disable_cleanup_in_background().cleanup_full_snapshot()))

    @pytest.mark.parametrize("strategy", ["incrementally", "rocksdb"])
    def test_a_strategy_that_is_asked_for_is_not_disabled(self, strategy: str) -> None:
        def settings(builder: StateTtlConfig.Builder) -> StateTtlConfig.Builder:
            builder = builder.disable_cleanup_in_background()
            if strategy == "rocksdb":
                return builder.cleanup_in_rocksdb_compact_filter(1000)
            return builder.cleanup_incrementally(10, True)

        assert not self.keeps(Seen(settings))

    def test_expired_values_can_be_seen_until_they_are_cleaned_up(self) -> None:
        values = Seen(lambda builder: builder.return_expired_if_not_cleaned_up(), "value")
        with TestHarness.of(seen(values), processing_time=1000) as harness:
            for key in "ab":
                harness.process((key, "x"))
            harness.advance_processing_time(1000 + GONE)
            harness.process(("a", "y"))
            harness.process(("b", "y"))
            assert [last for last, _, _ in harness.outputs()] == [None, None, "x", None]


class ReadingStore(DictStore):
    """Counts the entries that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    def get_many(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        self.read += len(keys)
        return super().get_many(keys)


@pytest.mark.usefixtures("in_pages")
class TestBounds:
    def test_ever_new_keys_are_bounded_by_those_alive(self) -> None:
        """600 batches of 5 new keys each and 10 ms: 40 are alive at a time, and 5 more may be on their way out."""
        with TestHarness.of(seen(Seen(kinds="value")), max_parallelism=4, processing_time=1000) as harness:
            most = 0
            for batch in range(600):
                harness.advance_processing_time(1000 + 10 * batch)
                fill(harness, 5, f"{batch}")
                most = max(most, len(stored(harness)) if batch % 10 == 0 else 0)
            assert most <= 5 * (GONE // 10 + 1)
            assert splits(harness) <= 4

    def backend(self, store: DictStore, now: int, touched: int = 1) -> None:
        """A batch that touches some keys; values live for 1,000 ms."""
        backend = KeyedStateBackend("op", store, 4, 400)
        backend.lifetimes = {"v": Lifetime("value", 1000, False)}
        for number in range(touched):
            backend.select(f"{now} {number}")["v"] = ("x" * 20, now)
        backend.flush(now)

    def test_a_batch_reads_a_bounded_number_of_pages(self) -> None:
        store = ReadingStore()
        self.backend(store, 0, 20_000)
        store.read = 0
        self.backend(store, 5000)
        assert CLEANED_PAGES < store.read <= 2 * CLEANED_PAGES + 10

    def test_in_some_batches_all_are_clean_and_the_index_has_shrunk(self) -> None:
        store = ReadingStore()
        self.backend(store, 0, 20_000)
        pages = len(store)
        for batch in range(2 * pages // CLEANED_PAGES):
            self.backend(store, 5000 + batch)
        indexes = [content for (_, kind, _), blob in store.items() if kind == "page"
                   and isinstance(content := pickle.loads(blob), Index)]  # fmt: skip
        keys = [key for (_, kind, _), blob in store.items() if kind == "page"
                if not isinstance(content := pickle.loads(blob), Index) for key in content]  # fmt: skip
        assert pages > 1500
        assert not [key for key in keys if key.startswith("0 ")]
        assert sum(len(index.splits) for index in indexes) < 20

    def test_when_nothing_is_due_nothing_else_is_read(self) -> None:
        store = ReadingStore()
        self.backend(store, 0, 2000)
        store.read = 0
        self.backend(store, 500)
        assert store.read == 3  # meta, index and page

    def test_a_replayed_batch_cleans_the_same(self) -> None:
        store = DictStore()
        self.backend(store, 0, 5000)
        first, second = DictStore(store), DictStore(store)
        for copy in (first, second):
            self.backend(copy, 5000)
        assert first == second

    def test_keys_cleared_by_the_program_leave_no_index(self) -> None:
        store = DictStore()
        for clears in (False, True):
            backend = KeyedStateBackend("op", store, 1, 400)
            for number in range(500):
                entry = backend.select(f"key {number}")
                entry["v"] = "x" * 20
                if clears:
                    entry.clear()
            backend.flush()
        assert [kind for _, kind, _ in store] == ["meta"]


@pytest.mark.usefixtures("in_pages")
class TestChangedPrograms:
    def as_before(self, store: DictStore) -> None:
        """Makes entries look like those that were written when nobody knew what expires."""
        for key, blob in list(store.items()):
            content = pickle.loads(blob)
            if isinstance(content, (Index, Meta)):
                for name in ("expiry", "lifetimes"):
                    content.__dict__.pop(name, None)
                store[key] = pickle.dumps(content, 5)

    def test_state_of_earlier_versions_is_cleaned_up(self) -> None:
        with TestHarness.of(seen(Seen(kinds="value")), max_parallelism=2, processing_time=1000) as harness:
            fill(harness, 4000)
            assert splits(harness)
            for store in harness._levels.stores.values():
                self.as_before(store)
            harness.advance_processing_time(1000 + GONE)
            fill(harness, 1, "new")
            assert set(stored(harness)) == {"new 0"}

    def test_what_is_alive_in_state_of_earlier_versions_goes_later(self) -> None:
        with TestHarness.of(seen(Seen(kinds="value")), max_parallelism=2, processing_time=1000) as harness:
            fill(harness, 1000)
            for store in harness._levels.stores.values():
                self.as_before(store)
            fill(harness, 1, "new")
            assert len(stored(harness)) == 1001
            harness.advance_processing_time(1000 + GONE)
            fill(harness, 1, "newer")
            assert set(stored(harness)) == {"newer 0"}

    def test_a_state_that_gets_a_time_to_live_is_cleaned_up(self) -> None:
        class Plain(KeyedProcessFunction):
            def open(self, runtime_context: Any) -> None:
                self.last = runtime_context.get_state(ValueStateDescriptor("last"))

            def process_element(self, value: Any, ctx: Any) -> None:
                self.last.update(value[1])

        class Expiring(Plain):
            def open(self, runtime_context: Any) -> None:
                self.last = runtime_context.get_state(expiring(ValueStateDescriptor("last")))

        with TestHarness.of(seen(Plain()), processing_time=1000) as harness:
            fill(harness, 500)
            snapshot = harness.snapshot()
        with TestHarness.of(seen(Expiring()), processing_time=1000, snapshot=snapshot) as harness:
            fill(harness, 1, "new")
            assert len(stored(harness)) == 501
            harness.advance_processing_time(1000 + GONE)
            fill(harness, 1, "newer")
            assert set(stored(harness)) == {"newer 0"}

    @pytest.mark.parametrize("parallelism", [1, 3])
    def test_what_is_due_is_known_after_a_rescale(self, parallelism: int) -> None:
        with TestHarness.of(seen(), parallelism=2, processing_time=1000) as harness:
            fill(harness, 500)
            snapshot = harness.snapshot()
        with TestHarness.of(seen(), parallelism=parallelism, processing_time=1000, snapshot=snapshot) as harness:
            harness.advance_processing_time(1000 + GONE)
            fill(harness, 50, "new")
            assert len(stored(harness)) == 50


def test_broadcast_state_does_not_expire() -> None:
    """As in Flink, whose operator state knows no time to live."""
    descriptor = expiring(MapStateDescriptor("rules"))

    class Rules(KeyedBroadcastProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield dict(ctx.get_broadcast_state(descriptor).items())

        def process_broadcast_element(self, value: Any, ctx: Any) -> None:
            ctx.get_broadcast_state(descriptor).put(*value)

    def build(pairs: Any, rules: Any) -> Any:
        return pairs.key_by(lambda pair: pair[0]).connect(rules.broadcast(descriptor)).process(Rules())

    with TestHarness.of(build, processing_time=1000) as harness:
        harness.process(("r", 1), input=2)
        harness.advance_processing_time(1000 + GONE)
        for key in "ab":
            harness.process((key, "x"), input=1)
        assert harness.outputs() == [{"r": 1}, {"r": 1}]


def test_pages_left_empty_are_removed() -> None:
    with TestHarness.of(seen(), processing_time=1000) as harness:
        fill(harness, 300)
        harness.advance_processing_time(1000 + GONE)
        fill(harness, 1, "new")
        assert len(contents(harness)) == 1
