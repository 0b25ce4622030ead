"""Type arguments are for type checkers: at run time classes take them and behave as without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import cloudpickle
import pytest

from scurry import datastream
from scurry.common import Configuration
from scurry.common.typeinfo import TypeInformation
from scurry.datastream import (
    DataStream,
    KeyedProcessFunction,
    KeyedStream,
    MapFunction,
    OutputTag,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from scurry.datastream.state import MapState, ValueState, ValueStateDescriptor

T = TypeVar("T")


class Doubled(MapFunction[int, int]):
    def map(self, value: int) -> int:
        return 2 * value


class DoubledAsInPyFlink(MapFunction):
    def map(self, value: Any) -> Any:
        return 2 * value


class OfAnyType(MapFunction, Generic[T]):
    def map(self, value: T) -> T:
        return value


class Counted(KeyedProcessFunction[int, int, tuple[int, int]]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor[int]("count"))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context[int]) -> Iterator[tuple[int, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), count


@pytest.fixture
def numbers() -> DataStream[int]:
    env = StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local"}))
    return env.set_parallelism(1).from_collection([1, 2, 3])


@pytest.mark.parametrize("function", [Doubled(), DoubledAsInPyFlink()])
def test_functions_may_name_their_types(numbers: DataStream[int], function: MapFunction[int, int]) -> None:
    assert list(numbers.map(function).execute_and_collect()) == [2, 4, 6]


def test_functions_may_have_type_variables_of_their_own(numbers: DataStream[int]) -> None:
    assert list(numbers.map(OfAnyType[int]()).execute_and_collect()) == [1, 2, 3]


def test_state_has_the_type_of_its_descriptor(numbers: DataStream[int]) -> None:
    counts = numbers.key_by(lambda number: number % 2).process(Counted())
    assert sorted(counts.execute_and_collect()) == [(0, 1), (1, 1), (1, 2)]


@pytest.mark.parametrize(
    "generic",
    [
        DataStream[int],
        KeyedStream[int, str],
        datastream.WindowedStream[int, str, datastream.TimeWindow],
        datastream.ConnectedStreams[int, str],
        datastream.BroadcastStream[int],
        datastream.AggregateFunction[int, int, float],
        datastream.CoMapFunction[int, str, float],
        MapState[str, int],
        ValueState[int],
        TypeInformation[int],
        OutputTag[str],
    ],
)
def test_annotations_that_are_evaluated_may_have_type_arguments(generic: Any) -> None:
    assert generic.__args__


def test_a_function_with_type_arguments_is_pickled_like_any_other() -> None:
    assert cloudpickle.loads(cloudpickle.dumps(Doubled())).map(4) == 8
    assert cloudpickle.loads(cloudpickle.dumps(OutputTag[int]("tag"))) == OutputTag("tag")
