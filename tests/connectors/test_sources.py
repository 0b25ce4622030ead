"""Sources that need no files: what each channel reads, batch by batch and after a restart."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.common.typeinfo import Types
from scurry.connectors.collection import SINGLE_CHANNEL_ELEMENTS, CollectionSource
from scurry.connectors.datagen import DataGeneratorSource, _GeneratorEnumerator
from scurry.connectors.hybrid import HybridSource
from scurry.connectors.ranges import NumberSequenceSource, RangeEnumerator, split_range
from scurry.connectors.source import BatchLimits, ChunkSizer, sliced
from scurry.errors import ArgumentError, TypeMismatchError
from support.chunks import present

Drive = Callable[..., Any]
reuse_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


class Record:
    """A record that can be watched."""


class TestChunks:
    def test_begin_with_single_records_and_grow_while_they_are_quick(self) -> None:
        cautious = ChunkSizer.CAUTIOUS_RECORDS
        lengths = [len(values) for values, _ in present(sliced([range(1000)], ChunkSizer(max_size=64)))]
        assert lengths[: cautious + 5] == [1] * (cautious + 1) + [4, 16, 64, 64]
        assert sum(lengths) == 1000

    def test_shrink_to_one_record_when_processing_is_slow(self) -> None:
        sizer = ChunkSizer(size=64)
        sizer.processed(seconds=1.0)
        assert sizer.size == 1

    def test_keep_their_size_when_the_time_is_right(self) -> None:
        sizer = ChunkSizer(size=64)
        sizer.processed(ChunkSizer.TARGET_SECONDS * 0.8)
        assert sizer.size == 64

    def test_are_lists_without_timestamps(self) -> None:
        assert list(sliced([(1, 2), [3]], ChunkSizer(size=10))) == [([1, 2], None), ([3], None)]

    def test_records_of_a_chunk_are_gone_before_the_next_is_made(self) -> None:
        made: list[weakref.ref[Record]] = []
        alive: list[int] = []

        class Records(Sequence[Record]):
            """Makes its records when they are asked for."""

            def __len__(self) -> int:
                return 3

            def __getitem__(self, some: Any) -> Any:
                alive.append(sum(each() is not None for each in made))
                records = [Record() for _ in range(len(self))[some]]
                made.extend(map(weakref.ref, records))
                return records

        for _ in sliced([Records(), Records()], ChunkSizer(size=1, max_size=1)):
            del _
        assert alive == [0] * 6


class TestCollection:
    def test_is_read_in_order_by_one_channel_in_one_batch(self, drive: Drive) -> None:
        assert drive(CollectionSource("abc"), parallelism=4).batches() == [{0: ["a", "b", "c"]}]

    def test_is_spread_over_all_channels_when_it_is_large(self, drive: Drive) -> None:
        elements = list(range(SINGLE_CHANNEL_ELEMENTS + 1))
        driver = drive(CollectionSource(elements), parallelism=3)
        channels = driver.by_channel()
        assert sorted(channels) == [0, 1, 2]
        assert [value for channel in sorted(channels) for value in channels[channel]] == elements

    def test_converts_elements_to_their_declared_type(self, drive: Drive) -> None:
        assert drive(CollectionSource([1, 2], Types.DOUBLE())).all() == [1.0, 2.0]

    def test_refuses_elements_that_are_not_of_the_declared_type(self) -> None:
        with pytest.raises(TypeMismatchError):
            CollectionSource([1, "two"], Types.LONG())

    def test_gives_tasks_copies_of_its_elements(self, drive: Drive) -> None:
        element = [1]
        assert drive(CollectionSource([element])).all()[0] is not element

    def test_ends_at_once_when_it_is_empty(self, drive: Drive) -> None:
        assert drive(CollectionSource([])).batches() == [{0: []}]

    def test_carries_instances_of_classes_no_module_has(self, drive: Drive) -> None:
        class Local:
            value = 7

        assert drive(CollectionSource([Local()])).all()[0].value == 7


class TestNumberSequence:
    def test_includes_both_ends(self, drive: Drive) -> None:
        assert drive(NumberSequenceSource(5, 9)).batches() == [{0: [5, 6, 7, 8, 9]}]

    def test_gives_each_channel_a_contiguous_part(self, drive: Drive) -> None:
        assert drive(NumberSequenceSource(1, 5), parallelism=2).by_channel() == {0: [1, 2, 3], 1: [4, 5]}

    def test_ends_channels_that_get_nothing_in_the_first_batch(self, drive: Drive) -> None:
        assert drive(NumberSequenceSource(1, 1), parallelism=3).batches() == [{0: [1], 1: [], 2: []}]

    def test_keeps_to_the_limit_of_records_per_batch(self, drive: Drive) -> None:
        driver = drive(NumberSequenceSource(1, 7), limits=BatchLimits(max_records=3))
        assert driver.batches() == [{0: [1, 2, 3]}, {0: [4, 5, 6]}, {0: [7]}]

    def test_refuses_an_end_before_the_start(self) -> None:
        with pytest.raises(ArgumentError, match="start <= end"):
            NumberSequenceSource(2, 1)

    def test_declares_long(self) -> None:
        assert NumberSequenceSource(0, 1).produced_type == Types.LONG()

    @reuse_fixture
    @given(size=st.integers(1, 60), parallelism=st.integers(1, 5), limit=st.integers(1, 20))
    def test_loses_and_doubles_nothing_whatever_the_limits_and_restarts(
        self, drive: Drive, size: int, parallelism: int, limit: int
    ) -> None:
        driver = drive(NumberSequenceSource(1, size), parallelism, BatchLimits(max_records=limit))
        batches = driver.batches(restarting=True)
        assert sorted(v for batch in batches for values in batch.values() for v in values) == list(range(1, size + 1))

    @reuse_fixture
    @given(size=st.integers(1, 60), before=st.integers(1, 5), after=st.integers(1, 5))
    def test_goes_on_with_another_parallelism(self, drive: Drive, size: int, before: int, after: int) -> None:
        driver = drive(NumberSequenceSource(1, size), before, BatchLimits(max_records=7))
        seen = [v for values in driver.batch().values() for v in values]
        driver.restart(parallelism=after)
        seen += driver.all()
        assert sorted(seen) == list(range(1, size + 1))


@given(st.integers(-100, 100), st.integers(0, 200), st.integers(1, 9))
def test_a_range_is_split_evenly_and_completely(start: int, size: int, parts: int) -> None:
    split = split_range(start, start + size, parts)
    assert [i for a, b in split for i in range(a, b)] == list(range(start, start + size))
    lengths = [b - a for a, b in split]
    assert max(lengths) - min(lengths) <= 1


def test_an_exhausted_range_stays_exhausted_after_a_restart() -> None:
    enumerator = RangeEnumerator(0, 2, 1, 10)
    enumerator.next_batch()
    restored = RangeEnumerator(0, 2, 1, 10)
    restored.restore(enumerator.position())
    assert restored.next_batch() == []


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class TestDataGenerator:
    def test_makes_records_from_their_indices(self, drive: Drive) -> None:
        assert drive(DataGeneratorSource(str, count=3)).all() == ["0", "1", "2"]

    def test_takes_an_object_with_a_method_map(self, drive: Drive) -> None:
        class Squares:
            def map(self, index: int) -> int:
                return index * index

        source = DataGeneratorSource(Squares(), count=3)  # type: ignore[arg-type]
        assert [v for values, _ in present(source.read((0, 3), ChunkSizer())) for v in values] == [0, 1, 4]

    def test_has_no_end_without_a_count(self, drive: Drive) -> None:
        source = DataGeneratorSource(str)
        driver = drive(source, limits=BatchLimits(max_records=2))
        assert (source.bounded, driver.batch(), driver.batch()) == (False, {0: ["0", "1"]}, {0: ["2", "3"]})

    def test_keeps_to_its_rate(self) -> None:
        clock = Clock()
        enumerator = _GeneratorEnumerator(DataGeneratorSource(str, 100, 10.0), 1, 1000, clock)
        assert [a.work for a in enumerator.next_batch()] == [(0, 1)]
        assert enumerator.next_batch() == []
        assert enumerator.idle_hint() == pytest.approx(0.1)
        clock.now = 1.05
        assert [a.work for a in enumerator.next_batch()] == [(1, 11)]

    def test_the_rate_counts_from_when_the_first_record_was_processed(self) -> None:
        clock = Clock()
        enumerator = _GeneratorEnumerator(DataGeneratorSource(str, 100, 10.0), 1, 1000, clock)
        assert [a.work for a in enumerator.next_batch()] == [(0, 1)]
        clock.now = 9.0  # the job took its time to start
        assert enumerator.next_batch() == []
        clock.now = 9.25
        assert [a.work for a in enumerator.next_batch()] == [(1, 3)]

    def test_goes_on_after_the_last_record_read(self, drive: Drive) -> None:
        driver = drive(DataGeneratorSource(str, count=4), limits=BatchLimits(max_records=2))
        assert driver.batches(restarting=True) == [{0: ["0", "1"]}, {0: ["2", "3"]}]

    def test_ends_every_channel_even_without_records(self, drive: Drive) -> None:
        assert drive(DataGeneratorSource(str, count=1), parallelism=2).batches() == [{0: ["0"], 1: []}]

    def test_converts_records_to_their_declared_type(self, drive: Drive) -> None:
        source = DataGeneratorSource(_same, count=2, type_info=Types.DOUBLE())
        assert drive(source).all() == [0.0, 1.0]
        assert source.produced_type == Types.DOUBLE()

    @pytest.mark.parametrize("arguments", [{"count": -1}, {"records_per_second": 0}])
    def test_refuses_impossible_amounts(self, arguments: dict[str, Any]) -> None:
        with pytest.raises(ArgumentError):
            DataGeneratorSource(str, **arguments)


def _same(index: int) -> int:
    return index


class TestHybrid:
    def test_reads_a_source_when_the_one_before_has_ended(self, drive: Drive) -> None:
        source = HybridSource([CollectionSource("ab"), NumberSequenceSource(1, 2), CollectionSource("z")])
        assert drive(source).all() == ["a", "b", 1, 2, "z"]

    def test_never_mixes_two_sources_in_a_batch(self, drive: Drive) -> None:
        source = HybridSource([NumberSequenceSource(1, 4), NumberSequenceSource(10, 12)])
        batches = drive(source, 2, BatchLimits(max_records=2)).batches()
        assert batches == [{0: [1], 1: [3]}, {0: [2], 1: [4]}, {0: [10], 1: [12]}, {0: [11]}]

    def test_goes_on_where_it_was(self, drive: Drive) -> None:
        source = HybridSource([CollectionSource("abc"), NumberSequenceSource(1, 3)])
        batches = drive(source, 1, BatchLimits(max_records=2)).batches(restarting=True)
        assert [v for batch in batches for v in batch.get(0, [])] == ["a", "b", "c", 1, 2, 3]

    def test_goes_on_with_another_parallelism(self, drive: Drive) -> None:
        source = HybridSource([NumberSequenceSource(1, 6), NumberSequenceSource(7, 9)])
        driver = drive(source, 2, BatchLimits(max_records=2))
        seen = [v for values in driver.batch().values() for v in values]
        driver.restart(parallelism=3)
        assert sorted(seen + driver.all()) == list(range(1, 10))

    def test_ends_channels_the_last_source_does_not_have(self, drive: Drive) -> None:
        source = HybridSource([NumberSequenceSource(1, 2), CollectionSource("a")])
        driver = drive(source, parallelism=2)
        assert driver.by_channel() == {0: [1, "a"], 1: [2]}

    def test_ends_when_the_last_source_is_empty(self, drive: Drive) -> None:
        assert drive(HybridSource([CollectionSource("a"), CollectionSource("")])).all() == ["a"]

    def test_refuses_an_endless_source_before_the_last(self) -> None:
        with pytest.raises(ArgumentError, match="never ends"):
            HybridSource([DataGeneratorSource(str), CollectionSource("a")])

    def test_has_an_end_if_its_last_source_has(self) -> None:
        assert HybridSource([CollectionSource("a")]).bounded
        assert not HybridSource([CollectionSource("a"), DataGeneratorSource(str)]).bounded
