"""What type checkers infer for windows, and for joins of two streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_type

from scurry.common.time import Time
from scurry.common.typeinfo import Types
from scurry.datastream import (
    AggregateFunction,
    CoGroupFunction,
    CountWindow,
    DataStream,
    JoinFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    TimeWindow,
    Trigger,
    TriggerResult,
    WindowedStream,
    WindowFunction,
)
from scurry.datastream.data_stream import AllWindowedStream, JoinedStreams
from scurry.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from scurry.datastream.state import AggregatingState, AggregatingStateDescriptor, ReducingState, ReducingStateDescriptor
from scurry.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection([1, 2, 3])
lines = env.from_collection(["a", "b"])
minutes = TumblingEventTimeWindows.of(Time.minutes(1))
parities = numbers.key_by(lambda number: str(number % 2))
windows = parities.window(minutes)


class Average(AggregateFunction[int, tuple[int, int], float]):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Sum(WindowFunction[int, tuple[str, int], str, TimeWindow]):
    def apply(self, key: str, window: TimeWindow, inputs: Iterable[int]) -> Iterable[tuple[str, int]]:
        assert_type(window.end, int)
        return [(key, sum(inputs))]


class Describe(ProcessWindowFunction[float, str, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[float]
    ) -> Iterator[str]:
        assert_type(context.window(), TimeWindow)
        yield f"{key} {context.window().start} {elements}"


class SumOfAll(AllWindowFunction[int, int, TimeWindow]):
    def apply(self, window: TimeWindow, inputs: Iterable[int]) -> Iterable[int]:
        return [sum(inputs)]


class DescribeAll(ProcessAllWindowFunction[int, str, TimeWindow]):
    def process(self, context: ProcessAllWindowFunction.Context[TimeWindow], elements: Iterable[int]) -> Iterator[str]:
        yield str(context.window())


class AtTen(Trigger[int, TimeWindow]):
    def __init__(self) -> None:
        self.sum = ReducingStateDescriptor("sum", lambda one, two: one + two, Types.LONG())

    def on_element(
        self, element: int, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        so_far = ctx.get_partitioned_state(self.sum)
        assert_type(so_far, ReducingState[int])
        so_far.add(element)
        return TriggerResult.FIRE if (so_far.get() or 0) > 10 else TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        ctx.get_partitioned_state(self.sum).clear()


class Pair(JoinFunction[int, str, tuple[int, str]]):
    def join(self, first: int, second: str) -> tuple[int, str]:
        return first, second


class Group(CoGroupFunction[int, str, str]):
    def co_group(self, first: Iterable[int], second: Iterable[str]) -> Iterator[str]:
        yield f"{list(first)} {list(second)}"


class Near(ProcessJoinFunction[int, str, str]):
    def process_element(self, left: int, right: str, ctx: ProcessJoinFunction.Context) -> Iterator[str]:
        yield f"{left} {right} {ctx.get_timestamp()}"


def windows_of_each_key() -> None:
    assert_type(windows, WindowedStream[int, str, TimeWindow])
    assert_type(parities.count_window(3), WindowedStream[int, str, CountWindow])
    assert_type(windows.trigger(AtTen()).allowed_lateness(10), WindowedStream[int, str, TimeWindow])
    assert_type(parities.window(EventTimeSessionWindows.with_gap(10)), WindowedStream[int, str, TimeWindow])
    assert_type(windows.reduce(lambda one, two: one + two), DataStream[int])
    assert_type(windows.reduce(max, Sum()), DataStream[tuple[str, int]])
    assert_type(windows.reduce(max, Sum(), tuple[str, int]), DataStream[tuple[str, int]])
    assert_type(windows.reduce(max, output_type=Types.STRING()), DataStream[str])
    assert_type(windows.aggregate(Average()), DataStream[float])
    assert_type(windows.aggregate(Average(), Describe()), DataStream[str])
    assert_type(windows.aggregate(Average(), accumulator_type=tuple[int, int]), DataStream[float])
    assert_type(windows.aggregate(Average(), output_type=Types.STRING()), DataStream[str])
    assert_type(windows.apply(Sum()), DataStream[tuple[str, int]])
    assert_type(parities.map(float).key_by(str).window(minutes).process(Describe()), DataStream[str])


def aggregating_state(context: RuntimeContext) -> None:
    average = context.get_aggregating_state(AggregatingStateDescriptor("average", Average()))
    assert_type(average, AggregatingState[int, float])
    average.add(1.5)  # type: ignore[arg-type]


def windows_of_all_records() -> None:
    every = numbers.window_all(minutes)
    assert_type(every, AllWindowedStream[int, TimeWindow])
    assert_type(every.apply(SumOfAll()), DataStream[int])
    assert_type(every.process(DescribeAll()), DataStream[str])
    assert_type(every.reduce(max, SumOfAll()), DataStream[int])
    assert_type(every.aggregate(Average()), DataStream[float])


def joins() -> None:
    joined = numbers.join(lines)
    assert_type(joined, JoinedStreams[int, str])
    pairs = joined.where(lambda number: number).equal_to(len).window(minutes)
    assert_type(pairs.apply(Pair()), DataStream[tuple[int, str]])
    assert_type(pairs.apply(lambda number, line: line * number), DataStream[str])
    groups = numbers.co_group(lines).where(str).equal_to(lambda line: line).window(minutes)
    assert_type(groups.apply(Group()), DataStream[str])
    assert_type(groups.apply(lambda some, others: [(sum(some), sorted(others))]), DataStream[tuple[int, list[str]]])
    near = numbers.key_by(str).interval_join(lines.key_by(lambda line: line)).between(-5, 5)
    assert_type(near.lower_bound_exclusive().process(Near()), DataStream[str])


def wrong_programs(session: EventTimeSessionWindows[str]) -> None:
    parities.window(session)  # type: ignore[arg-type]
    parities.window(3)  # type: ignore[arg-type]
    parities.count_window(3).apply(Sum())  # type: ignore[arg-type]
    lines.key_by(len).window(minutes).apply(Sum())  # type: ignore[arg-type]
    lines.key_by(len).window(minutes).aggregate(Average())  # type: ignore[arg-type]
    windows.apply(SumOfAll())  # type: ignore[call-overload]
    windows.process(Sum())  # type: ignore[call-overload]
    windows.aggregate(Average(), Sum())  # type: ignore[misc]
    numbers.window_all(minutes).process(Describe())  # type: ignore[call-overload]
    numbers.join(lines).where(lambda number: number).equal_to(lambda line: line)  # type: ignore[arg-type, return-value]
    numbers.join(numbers).where(str).equal_to(str).window(minutes).apply(Pair())  # type: ignore[arg-type]
    numbers.key_by(str).interval_join(lines)  # type: ignore[arg-type]
    numbers.key_by(str).interval_join(lines.key_by(len))  # type: ignore[arg-type]


class WrongAccumulator(Average):
    def add(self, value: int, accumulator: int) -> tuple[int, int]:  # type: ignore[override]
        return value, accumulator
