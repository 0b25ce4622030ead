"""What type checkers infer for streams; `test_typing.py` runs mypy on this directory, nothing runs it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, assert_type

from scurry.common.typeinfo import Types
from scurry.common.types import Row
from scurry.datastream import (
    DataStream,
    FilterFunction,
    FlatMapFunction,
    KeyedStream,
    KeySelector,
    MapFunction,
    Partitioner,
    ReduceFunction,
    SinkFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream.data_stream import CachedDataStream, CloseableIterator

env = StreamExecutionEnvironment.get_execution_environment()
lines = env.socket_text_stream("localhost", 9999)
numbers = env.from_collection([1, 2, 3])


class Length(MapFunction[str, int]):
    def map(self, value: str) -> int:
        return len(value)


class Untyped(MapFunction):
    def map(self, value):  # type: ignore[no-untyped-def]  # as PyFlink's users write it
        return value


class Words(FlatMapFunction[str, str]):
    def flat_map(self, value: str) -> Iterator[str]:
        yield from value.split()


class Even(FilterFunction[int]):
    def filter(self, value: int) -> bool:
        return value % 2 == 0


class Initial(KeySelector[str, str]):
    def get_key(self, value: str) -> str:
        return value[0]


class Sum(ReduceFunction[int]):
    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class ByLength(Partitioner[str]):
    def partition(self, key: str, num_partitions: int) -> int:
        return len(key) % num_partitions


class Printed(SinkFunction[str]):
    def invoke(self, value: str, context: Any) -> None:
        print(value.upper())


def words_of(line: str) -> Iterable[str]:
    return line.split()


def sources() -> None:
    assert_type(lines, DataStream[str])
    assert_type(numbers, DataStream[int])
    assert_type(env.from_collection([("a", 1)]), DataStream[tuple[str, int]])
    assert_type(env.from_collection([1], Types.STRING()), DataStream[str])
    assert_type(env.from_collection([(1, 2)], tuple[int, int]), DataStream[tuple[int, int]])
    assert_type(env.from_collection([(1, 2)], Types.ROW([Types.INT(), Types.INT()])), DataStream[Row])


def one_record_at_a_time() -> None:
    assert_type(lines.map(len), DataStream[int])
    assert_type(lines.map(lambda line: (line, 1)), DataStream[tuple[str, int]])
    assert_type(lines.map(Length()), DataStream[int])
    assert_type(lines.map(Untyped()), DataStream[Any])
    assert_type(lines.map(json.loads), DataStream[Any])
    assert_type(lines.flat_map(words_of), DataStream[str])
    assert_type(lines.flat_map(lambda line: line.split()), DataStream[str])
    assert_type(lines.flat_map(Words()), DataStream[str])
    assert_type(lines.filter(lambda line: line.startswith("a")), DataStream[str])
    assert_type(numbers.filter(Even()), DataStream[int])
    assert_type(lines.map(len).filter(Even()).map(str), DataStream[str])


def declared_types() -> None:
    """Records are converted to a declared type, so it says more than the function does."""
    assert_type(lines.map(lambda line: (line, 1), Types.ROW([Types.STRING(), Types.INT()])), DataStream[Row])
    assert_type(lines.map(lambda line: [line, 1], output_type=tuple[str, int]), DataStream[tuple[str, int]])
    assert_type(lines.map(json.loads, Types.LONG()), DataStream[int])
    assert_type(lines.map(json.loads, Types.LIST(Types.LONG())), DataStream[list[int]])
    assert_type(lines.map(json.loads, Types.MAP(Types.STRING(), Types.DOUBLE())), DataStream[dict[str, float]])
    assert_type(lines.flat_map(Words(), Types.STRING()), DataStream[str])


def keys() -> None:
    assert_type(lines.key_by(len), KeyedStream[str, int])
    assert_type(lines.key_by(Initial()), KeyedStream[str, str])
    pairs = lines.map(lambda line: (line, 1)).key_by(lambda pair: pair[0])
    assert_type(pairs, KeyedStream[tuple[str, int], str])
    assert_type(pairs.map(lambda pair: pair[1]), DataStream[int])
    assert_type(pairs.sum(1), DataStream[tuple[str, int]])
    assert_type(pairs.reduce(lambda one, two: (one[0], one[1] + two[1])), DataStream[tuple[str, int]])
    assert_type(numbers.key_by(lambda number: number % 2).reduce(Sum()), DataStream[int])
    assert_type(pairs.key_by(lambda pair: pair[1]), KeyedStream[tuple[str, int], int])


def exchanges() -> None:
    assert_type(lines.union(lines), DataStream[str])
    assert_type(lines.rebalance().forward().shuffle().rescale().global_().broadcast(), DataStream[str])
    assert_type(lines.partition_custom(ByLength(), lambda line: line[0]), DataStream[str])
    assert_type(lines.partition_custom(lambda key, count: key % count, len), DataStream[str])
    assert_type(lines.cache(), CachedDataStream[str])


def results() -> None:
    assert_type(lines.execute_and_collect(), CloseableIterator[str])
    assert_type(lines.execute_and_collect(limit=3), list[str])
    with lines.map(len).execute_and_collect("lengths") as lengths:
        for length in lengths:
            assert_type(length, int)
    lines.add_sink(Printed())


def streams_without_type_arguments(stream: DataStream) -> KeyedStream:
    assert_type(stream, DataStream[Any])
    return stream.map(lambda record: record.anything).key_by(lambda record: record[0])


def a_stream_of_less_is_one_of_more(stream: DataStream[bool]) -> DataStream[int]:
    return stream


def wrong_programs() -> None:
    lines.map(lambda line: line.length)  # type: ignore[attr-defined]
    lines.map(lambda: 1)  # type: ignore[misc, arg-type]
    lines.map(Length)  # type: ignore[arg-type]
    lines.map(3)  # type: ignore[call-overload]
    numbers.map(Length())  # type: ignore[arg-type]
    numbers.flat_map(lambda number: number)  # type: ignore[arg-type, return-value]
    numbers.flat_map(Words())  # type: ignore[arg-type]
    lines.filter(Even())  # type: ignore[arg-type]
    lines.map(json.loads, output_type="LONG")  # type: ignore[call-overload]
    lines.key_by("field")  # type: ignore[arg-type]
    lines.key_by(lambda line: line.length)  # type: ignore[attr-defined]
    lines.key_by(len).reduce(Sum())  # type: ignore[arg-type]
    lines.key_by(len).reduce(lambda one, two: len(one))  # type: ignore[arg-type, return-value]
    lines.partition_custom(ByLength(), len)  # type: ignore[misc]
    lines.union(numbers)  # type: ignore[arg-type]
    numbers.add_sink(Printed())  # type: ignore[arg-type]
    lines.sink_to(Printed())  # type: ignore[arg-type]
    lines.reduce(lambda one, two: one)  # type: ignore[attr-defined]
    number: int = lines.execute_and_collect(limit=1)[0]  # type: ignore[assignment]
    print(number)
