"""DataStream: one record at a time, several streams, how operators run, where records go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.common import Row, Types, WatermarkStrategy
from scurry.common.serialization import Encoder
from scurry.datastream import (
    DataStream,
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    OutputTag,
    Partitioner,
    ProcessFunction,
    SinkFunction,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from scurry.datastream.connectors.file_system import FileSink
from scurry.datastream.functions import CoFlatMapFunction, CoMapFunction, CoProcessFunction

env = StreamExecutionEnvironment.get_execution_environment()


def results(stream: DataStream[Any]) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


# One record at a time

numbers = env.from_collection([1, 2, 3])
assert results(numbers.map(lambda n: n * 10)) == [10, 20, 30]
assert results(numbers.filter(lambda n: n > 1)) == [2, 3]
assert results(numbers.flat_map(lambda n: range(n))) == [0, 0, 1, 0, 1, 2]


class Double(MapFunction):
    def map(self, value: int) -> int:
        return value * 2


class IsOdd(FilterFunction):
    def filter(self, value: int) -> bool:
        return value % 2 == 1


class UpTo(FlatMapFunction):
    def flat_map(self, value: int) -> Iterator[int]:
        yield from range(value)


assert results(numbers.map(Double())) == [2, 4, 6]
assert results(numbers.filter(IsOdd())) == [1, 3]
assert results(numbers.flat_map(UpTo())) == [0, 0, 1, 0, 1, 2]

pairs = env.from_collection([("a", 1, True)], Types.TUPLE([Types.STRING(), Types.INT(), Types.BOOLEAN()]))
assert results(pairs.project(1, 0)) == [(1, "a")]

# Side outputs

large = OutputTag("large", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value: int, ctx: ProcessFunction.Context) -> Iterator[Any]:
        if value > 2:
            yield large, value
        else:
            yield value


split = numbers.process(Split())
assert results(split) == [1, 2]
assert results(split.get_side_output(large)) == [3]


class SecondOf(ProcessFunction):
    def process_element(self, value: tuple[str, int], ctx: ProcessFunction.Context) -> Iterator[str]:
        assert ctx.timer_service().current_watermark() < value[1]
        yield f"{value[0]} at {ctx.timestamp()} ms"


strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[1])
events = env.from_collection([("start", 1000), ("stop", 2000)]).assign_timestamps_and_watermarks(strategy)
assert results(events.process(SecondOf())) == ["start at 1000 ms", "stop at 2000 ms"]


def reciprocal(n: int) -> float:
    return 1 / n


refused = OutputTag("refused")
divided = env.from_collection([2, 0]).map(reciprocal).with_dead_letters(refused)
assert results(divided) == [0.5]
assert [letter.record for letter in results(divided.get_side_output(refused))] == [0]

# Several streams

words = env.from_collection(["a", "b"])
assert sorted(results(numbers.map(str).union(words))) == ["1", "2", "3", "a", "b"]


class Both(CoMapFunction):
    def map1(self, value: int) -> str:
        return f"number {value}"

    def map2(self, value: str) -> str:
        return f"word {value}"


class Doubled(CoFlatMapFunction):
    def flat_map1(self, value: int) -> Iterator[str]:
        yield from [str(value)] * 2

    def flat_map2(self, value: str) -> Iterator[str]:
        yield value


class Merge(CoProcessFunction):
    def process_element1(self, value: int, ctx: CoProcessFunction.Context) -> Iterator[str]:
        assert ctx.timestamp() is not None
        yield str(value)

    def process_element2(self, value: str, ctx: CoProcessFunction.Context) -> Iterator[str]:
        assert ctx.timer_service().current_watermark() < 0
        yield value


connected = numbers.connect(words)
assert sorted(results(connected.map(Both()))) == ["number 1", "number 2", "number 3", "word a", "word b"]
assert sorted(results(connected.flat_map(Doubled()))) == ["1", "1", "2", "2", "3", "3", "a", "b"]
assert sorted(results(connected.process(Merge()))) == ["1", "2", "3", "a", "b"]
same_size = numbers.connect(words).key_by(lambda n: n % 2, lambda word: len(word) % 2)
assert sorted(results(same_size.map(Both())))[0] == "number 1"

# Where the next operator gets its records


class ByKey(Partitioner):
    def partition(self, key: int, num_partitions: int) -> int:
        return key % num_partitions


class FirstLetter(KeySelector):
    def get_key(self, value: str) -> str:
        return value[0]


for moved in (
    numbers.shuffle(),
    numbers.rebalance(),
    numbers.rescale(),
    numbers.forward(),
    numbers.global_(),
    numbers.broadcast(),
    numbers.partition_custom(ByKey(), lambda n: n),
    numbers.key_by(lambda n: n),
):
    assert sorted(results(moved.map(lambda n: n))) == [1, 2, 3]
assert results(words.key_by(FirstLetter())) == ["a", "b"]

# Names and settings of an operator

doubled = (
    numbers.map(Double(), Types.INT())
    .name("double")
    .uid("double-1")
    .set_description("multiplies by two")
    .set_parallelism(1)
    .set_max_parallelism(128)
    .set_buffer_timeout(10)
    .start_new_chain()
    .disable_chaining()
    .slot_sharing_group(SlotSharingGroup.builder("small").build())
)
assert doubled.get_name() == "double"
assert str(doubled.get_type()) == str(Types.INT())
assert doubled.get_execution_environment() is env
assert doubled.get_execution_config().get_parallelism() == env.get_parallelism()
assert results(numbers.map(Double()).force_non_parallel()) == [2, 4, 6]

# Sinks


class Collect(SinkFunction):
    def open(self) -> None:
        self.file = open("collected", "w", encoding="utf-8")

    def invoke(self, value: int, context: SinkFunction.Context) -> None:
        print(value, file=self.file)

    def close(self) -> None:
        self.file.close()


numbers.add_sink(Collect())
env.execute()
assert open("collected", encoding="utf-8").read() == "1\n2\n3\n"

numbers.print("numbers").name("console").set_parallelism(1)
numbers.sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build()).uid("files")
rows = env.from_collection([Row(n=1)], Types.ROW_NAMED(["n"], [Types.INT()]))
rows.map(lambda row: row.n).print().name("rows").uid("rows").set_description("prints").disable_chaining()
rows.print().slot_sharing_group("default")
env.execute()

once = numbers.map(Double()).cache()
assert results(once) == [2, 4, 6]
assert results(once.map(lambda n: n + 1)) == [3, 5, 7]  # the numbers are not doubled again
once.invalidate()
