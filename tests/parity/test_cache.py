"""Cached streams: one job computes them, later ones read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scurry.common import Configuration, Types
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.datastream import DataStream, OutputTag, ProcessFunction, StreamExecutionEnvironment
from scurry.datastream.data_stream import CachedDataStream
from scurry.errors import JobError


class Pair(NamedTuple):
    name: str
    number: int


class Program:
    """A stream whose computation leaves traces."""

    def __init__(self, directory: Path, runner: str = "local", mode: str = "BATCH") -> None:
        configuration = Configuration()
        configuration.set_string("scurry.runner", runner)
        configuration.set_string("execution.runtime-mode", mode)
        configuration.set_string("scurry.cache-dir", str(directory / "cache"))
        self.env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
        self.cache_files = directory / "cache"
        self._log = str(directory / "calls")

    @property
    def calls(self) -> int:
        """How many records were computed so far."""
        log = Path(self._log)
        return len(log.read_text()) if log.exists() else 0

    def squares(self) -> DataStream:
        log = self._log

        def square(number: int) -> int:
            with open(log, "a") as file:
                file.write(".")
            return number * number

        return self.env.from_collection([1, 2, 3], Types.INT()).map(square, Types.INT())


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def records(stream: DataStream) -> list[Any]:
    return sorted(stream.execute_and_collect())


@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=pytest.mark.spark)])
def test_later_jobs_read_what_the_first_computed(tmp_path: Path, runner: str) -> None:
    program = Program(tmp_path, runner)
    cached = program.squares().cache()
    assert program.calls == 0
    assert records(cached.map(lambda number: number + 1)) == [2, 5, 10]
    assert program.calls == 3
    assert records(cached) == [1, 4, 9]
    assert records(cached.key_by(lambda number: number % 2).reduce(lambda a, b: a + b)) == [4, 10]
    assert program.calls == 3


def test_an_invalidated_stream_is_computed_and_cached_again(program: Program) -> None:
    cached = program.squares().cache()
    cached.invalidate()
    for calls in (3, 6):
        assert [records(cached), records(cached)] == [[1, 4, 9]] * 2
        assert program.calls == calls
        cached.invalidate()
    assert list(program.cache_files.iterdir()) == []


def test_a_cached_stream_may_be_made_of_another(program: Program) -> None:
    first = program.squares().cache()
    second = first.map(lambda number: -number, Types.INT()).cache()
    assert records(second) == [-9, -4, -1]
    assert records(first) == [1, 4, 9]
    assert records(second.union(first)) == [-9, -4, -1, 1, 4, 9]
    assert program.calls == 3


def test_what_the_cached_stream_was_made_of_is_not_needed_any_more(program: Program) -> None:
    first = program.squares().cache()
    second = first.map(lambda number: -number, Types.INT()).cache()
    records(second)
    first.invalidate()
    assert records(second) == [-9, -4, -1]
    assert program.calls == 3


def test_side_outputs_and_sources_can_be_cached(program: Program) -> None:
    odd = OutputTag("odd", Types.INT())

    class Split(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            yield (odd, value) if value % 2 else value

    source = program.env.from_collection([1, 2, 3], Types.INT()).cache()
    side = source.process(Split(), Types.INT()).get_side_output(odd).cache()
    assert [records(side), records(side), records(source)] == [[1, 3], [1, 3], [1, 2, 3]]


def test_timestamps_order_and_classes_of_records_are_kept(program: Program) -> None:
    class ByNumber(TimestampAssigner):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value.number)

    class WithTime(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            yield value, ctx.timestamp()

    pairs = [Pair("a", number) for number in range(5_000, 0, -1)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByNumber())
    cached = program.env.from_collection(pairs).assign_timestamps_and_watermarks(strategy).cache()
    for _ in range(2):
        assert list(cached.process(WithTime()).execute_and_collect()) == [(pair, pair.number) for pair in pairs]


def test_an_empty_stream_stays_empty(program: Program) -> None:
    cached = program.squares().filter(lambda number: False).cache()
    assert [records(cached), records(cached)] == [[], []]
    assert program.calls == 3


def test_a_job_that_fails_leaves_nothing_in_the_cache(program: Program) -> None:
    cached = program.squares().cache()
    with pytest.raises(JobError):
        records(cached.map(lambda number: 1 // (number - 9)))
    assert records(cached) == [1, 4, 9]
    assert program.calls == 6


def test_closing_the_environment_deletes_what_is_cached(program: Program) -> None:
    cached = program.squares().cache()
    records(cached)
    assert len(list(program.cache_files.iterdir())) == 1
    program.env.close()
    assert list(program.cache_files.iterdir()) == []
    assert records(cached) == [1, 4, 9]
    assert program.calls == 6


def test_in_streaming_every_job_computes_the_stream(tmp_path: Path) -> None:
    program = Program(tmp_path, mode="STREAMING")
    cached = program.squares().cache()
    assert isinstance(cached, CachedDataStream)
    assert [records(cached), records(cached)] == [[1, 4, 9]] * 2
    assert program.calls == 6
