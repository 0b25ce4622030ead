"""A StopIteration of a user's function, such as that of `next(iterator)`, fails the job: no record is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Time, Types, WatermarkStrategy
from scurry.common.serialization import Encoder, SerializationSchema
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.datastream import DataStream, ProcessFunction, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSink
from scurry.datastream.functions import (
    AggregateFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    JoinFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from scurry.datastream.window import GlobalWindows, TumblingEventTimeWindows
from scurry.errors import JobError

Build = Callable[[DataStream[int]], Any]


def stop(value: int) -> int:
    """Return a value, unless it is 2: then there is no next one."""
    return next(iter([value] if value != 2 else []))


class StopsAsProcess(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        return [stop(value)]


class StopsWithKeys(KeyedProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        return [stop(value)]


class StopsWithTwoInputs(CoProcessFunction):
    def process_element1(self, value: int, ctx: Any) -> Any:
        return [stop(value)]

    def process_element2(self, value: int, ctx: Any) -> Any:
        return [stop(value)]


class Stops(CoMapFunction, CoFlatMapFunction, AggregateFunction, ReduceFunction, JoinFunction, TimestampAssigner):
    """Whatever it is asked for ends in a StopIteration for the value 2."""

    def map1(self, value: int) -> int:
        return stop(value)

    map2 = map1

    def flat_map1(self, value: int) -> Any:
        return [stop(value)]

    flat_map2 = flat_map1

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: int, accumulator: int) -> int:
        return accumulator + stop(value)

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b

    def reduce(self, value1: int, value2: int) -> int:
        return value1 + stop(value2)

    def join(self, first: int, second: int) -> int:
        return stop(first)

    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return stop(value)


class StopsInWindow(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        return [stop(each) for each in elements]


class StopsAsSchema(SerializationSchema):
    def serialize(self, value: Any) -> bytes:
        return str(stop(value)).encode()


TIMES = WatermarkStrategy.for_monotonous_timestamps()


def timed(numbers: DataStream[int]) -> DataStream[int]:
    return numbers.assign_timestamps_and_watermarks(TIMES.with_timestamp_assigner(At()))


class At(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value


def windowed(numbers: DataStream[int]) -> Any:
    return timed(numbers).key_by(lambda value: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))


PROGRAMS: dict[str, Build] = {
    "map": lambda numbers: numbers.map(stop),
    "map, declared": lambda numbers: numbers.map(stop, Types.INT()),
    "map of a map": lambda numbers: numbers.map(lambda value: value).map(stop),
    "filter": lambda numbers: numbers.filter(lambda value: stop(value) > 0),
    "flat_map": lambda numbers: numbers.flat_map(lambda value: [stop(value)]),
    "key_by": lambda numbers: numbers.key_by(stop).map(lambda value: value),
    "partition_custom": lambda numbers: numbers.partition_custom(lambda key, count: stop(key) % count, lambda v: v),
    "process": lambda numbers: numbers.process(StopsAsProcess()),
    "keyed process": lambda numbers: numbers.key_by(lambda value: 0).process(StopsWithKeys()),
    "keyed map": lambda numbers: numbers.key_by(lambda value: 0).map(stop),
    "keyed filter": lambda numbers: numbers.key_by(lambda value: 0).filter(lambda value: stop(value) > 0),
    "keyed flat_map": lambda numbers: numbers.key_by(lambda value: 0).flat_map(lambda value: [stop(value)]),
    "reduce": lambda numbers: numbers.key_by(lambda value: 0).reduce(Stops()),
    "co-map": lambda numbers: numbers.connect(numbers).map(Stops()),
    "co-flat_map": lambda numbers: numbers.connect(numbers).flat_map(Stops()),
    "co-process": lambda numbers: numbers.connect(numbers).process(StopsWithTwoInputs()),
    "timestamps": lambda numbers: numbers.assign_timestamps_and_watermarks(TIMES.with_timestamp_assigner(Stops())),
    "window reduce": lambda numbers: windowed(numbers).reduce(Stops()),
    "window aggregate": lambda numbers: windowed(numbers).aggregate(Stops()),
    "window process": lambda numbers: windowed(numbers).process(StopsInWindow()),
    "window join": lambda numbers: (
        timed(numbers)
        .join(timed(numbers))
        .where(lambda value: value)
        .equal_to(lambda value: value)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .apply(Stops())
    ),
    "window keys of GlobalWindows": lambda numbers: numbers.key_by(stop).window(GlobalWindows.create()).reduce(Stops()),
}


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_that_stops_fails_the_job(name: str, mode: str) -> None:
    settings = {"scurry.runner": "local", "execution.runtime-mode": mode}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(1)
    with pytest.raises(JobError, match="StopIteration"):
        with PROGRAMS[name](env.from_collection([1, 2, 3, 4])).execute_and_collect() as found:
            list(found)


class Text:
    def __str__(self) -> str:
        return str(stop(2))


def test_a_text_of_a_file_that_stops_fails_the_job(tmp_path: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    env.from_collection([1, 2]).map(lambda value: Text()).sink_to(sink)
    with pytest.raises(JobError, match="StopIteration"):
        env.execute()


@pytest.mark.parametrize("part", ["topic_selector", "key_schema", "value_schema", "header_provider"])
def test_a_serializer_of_kafka_that_stops_sends_nothing(part: str) -> None:
    given: dict[str, Any] = {"topic": "t", "value_schema": SerializationSchema(), part: StopsAsSchema()}
    given["value_schema"] = StopsAsSchema() if part == "value_schema" else type("Texts", (SerializationSchema,), {
        "serialize": lambda self, value: str(value).encode()})()  # fmt: skip
    if part in ("topic_selector", "header_provider"):
        given |= {part: stop} | ({"topic": None} if part == "topic_selector" else {})
    with pytest.raises(StopIteration):
        KafkaRecordSerializationSchema(**given).records([1, 2, 3], None)
