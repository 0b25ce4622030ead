"""Chained functions without declared types run record by record; between others, results are handed over in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import KeyedProcessFunction, OutputTag, ProcessFunction, StreamExecutionEnvironment
from scurry.errors import JobError
from support.changing_objects import NOTED, Noted, growing, note, numbers, one_key


@pytest.fixture(autouse=True)
def _nothing_noted() -> None:
    NOTED.clear()


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env


def results(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as found:
        return list(found)


def test_a_function_takes_a_record_when_the_next_has_taken_the_one_before(env: StreamExecutionEnvironment) -> None:
    both = numbers(env, 0).flat_map(lambda value: (note("first", each) for each in (1, 2)))
    results(both.filter(partial(note, "second")).flat_map(lambda value: [note("third", value)]))
    assert NOTED == ["first 1", "second 1", "third 1", "first 2", "second 2", "third 2"]


def test_a_declared_type_ends_what_runs_record_by_record(env: StreamExecutionEnvironment) -> None:
    both = numbers(env, 0).flat_map(lambda value: (note("first", each) for each in (1, 2)), output_type=Types.INT())
    results(both.map(partial(note, "second")))
    assert NOTED == ["first 1", "first 2", "second 1", "second 2"]


def test_records_are_not_copied_between_chained_functions(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env, 1).map(Noted).map(lambda record: record).filter(lambda record: True)
    assert results(stream.map(lambda record: record.number, output_type=Types.INT())) == [1]
    assert NOTED == []


def test_records_are_copied_once_for_each_further_consumer(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env, 1).map(Noted)
    NOTED.clear()
    both = [stream.map(lambda record: record.number, output_type=Types.INT()) for _ in range(2)]
    assert results(both[0].union(both[1])) == [1, 1]
    assert NOTED == ["copy 1", "copy 1"]  # when it is handed over, and for the first of both


def test_immutable_records_are_not_copied(env: StreamExecutionEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    from scurry.runtime.exchange import collector

    def refuse(value: Any) -> Any:
        raise AssertionError(f"{value!r} is copied")

    monkeypatch.setattr(collector, "copy_of", refuse)
    pair = Types.TUPLE([Types.INT(), Types.STRING()])
    pairs = numbers(env, 1, 2).map(lambda value: (value, "a"), output_type=pair)
    texts = pairs.map(lambda value: value[1], output_type=Types.STRING()).union(
        pairs.map(lambda value: value[1], output_type=Types.STRING())
    )
    assert results(texts.key_by(len).process(_Same(), output_type=Types.STRING())) == ["a"] * 4


class _Same(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value


def test_with_object_reuse_nothing_is_copied(env: StreamExecutionEnvironment) -> None:
    env.get_config().enable_object_reuse()
    stream = numbers(env, 0).flat_map(partial(growing, list))
    shown = [stream.map(len, output_type=Types.INT()) for _ in range(2)]
    assert results(shown[0].union(shown[1])) == [3] * 6


@pytest.mark.parametrize("text", ["true", "TRUE"])
def test_object_reuse_is_a_configuration_key(env: StreamExecutionEnvironment, text: str) -> None:
    env.configure(Configuration.from_dict({"pipeline.object-reuse": text}))
    stream = numbers(env, 1).map(Noted)
    both = [stream.map(lambda record: record.number, output_type=Types.INT()) for _ in range(2)]
    assert results(both[0].union(both[1])) == [1, 1]
    assert NOTED == []


class _Time(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


class _TimeOf(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value, ctx.timestamp()


def test_results_have_the_timestamp_of_their_record(env: StreamExecutionEnvironment) -> None:
    ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_Time())
    stream = numbers(env, 1, 2, 3).assign_timestamps_and_watermarks(ascending)
    some = stream.map(lambda value: value).filter(lambda value: value != 2).flat_map(lambda value: [value, -value])
    assert results(some.process(_TimeOf())) == [(1, 1), (-1, 1), (3, 3), (-3, 3)]


def test_tags_that_nobody_reads_are_dropped_on_the_way(env: StreamExecutionEnvironment) -> None:
    tag = OutputTag("unread")

    class Both(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            yield tag, value
            yield value

    assert results(numbers(env, 1, 2).process(Both()).map(lambda value: value)) == [1, 2]
    assert results(numbers(env, 1, 2).key_by(one_key).process(_Same()).map(lambda value: value)) == [1, 2]


def test_a_failure_names_the_function_that_failed_and_its_record(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env, 1, 2).map(lambda value: value * 10).map(lambda value: 1 // (value - 20)).name("divides")
    with pytest.raises(JobError, match=r"in operator 'divides'[^\n]*\n  record: 20"):
        results(stream.map(lambda value: value))


def test_records_between_chained_functions_are_counted(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env, 1, 2, 3).map(lambda value: value).name("all").filter(lambda value: value > 1).name("some")
    stream.flat_map(lambda value: [value] * 2).name("twice").print()
    metrics = env.execute().get_metrics()
    counts = {name: metrics[f"{name}.numRecordsOut"] for name in ("all", "some", "twice")}
    assert counts == {"all": 3, "some": 2, "twice": 4}
