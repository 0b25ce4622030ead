"""KeyedStream: aggregates, timers, joins in time, and everything that a keyed function may ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.common import Time, Types, WatermarkStrategy
from scurry.datastream import DataStream, KeyedProcessFunction, ReduceFunction, StreamExecutionEnvironment, TimeDomain
from scurry.datastream.functions import (
    CoGroupFunction,
    FlatJoinFunction,
    JoinFunction,
    KeyedCoProcessFunction,
    NullByteKeySelector,
    ProcessJoinFunction,
    RuntimeContext,
)
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows

env = StreamExecutionEnvironment.get_execution_environment()
in_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[1])


def results(stream: DataStream[Any]) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


def at_times(*events: tuple[Any, int]) -> DataStream[Any]:
    return env.from_collection(list(events)).assign_timestamps_and_watermarks(in_time)


# Running aggregates

sales = env.from_collection([("ann", 3), ("ann", 1), ("ann", 2)])
by_name = sales.key_by(lambda sale: sale[0])
assert results(by_name.sum(1)) == [("ann", 3), ("ann", 4), ("ann", 6)]
assert results(by_name.min(1)) == [("ann", 3), ("ann", 1), ("ann", 1)]
assert results(by_name.max(1)) == [("ann", 3), ("ann", 3), ("ann", 3)]
assert results(by_name.min_by(1)) == [("ann", 3), ("ann", 1), ("ann", 1)]
assert results(by_name.max_by(1)) == [("ann", 3), ("ann", 3), ("ann", 3)]


class Larger(ReduceFunction):
    def reduce(self, value1: tuple[str, int], value2: tuple[str, int]) -> tuple[str, int]:
        return max(value1, value2)


assert results(by_name.reduce(Larger())) == [("ann", 3), ("ann", 3), ("ann", 3)]
everything = sales.key_by(NullByteKeySelector())
assert results(everything.sum(1))[-1] == ("ann", 6)
assert NullByteKeySelector().get_key(("ann", 3)) == 0

# State and timers


class SilentFor(KeyedProcessFunction):
    """Say of each user when nothing came for a second, and how many events there were."""

    def open(self, runtime_context: RuntimeContext) -> None:
        assert runtime_context.get_number_of_parallel_subtasks() == 1
        assert runtime_context.get_max_number_of_parallel_subtasks() == 128
        assert runtime_context.get_index_of_this_subtask() == 0
        assert runtime_context.get_attempt_number() == 0
        assert runtime_context.get_task_name() in runtime_context.get_task_name_with_subtasks()
        assert runtime_context.get_job_parameter("currency", "EUR") == "EUR"
        self.seen = runtime_context.get_metrics_group().counter("seen")
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.timer = runtime_context.get_state(ValueStateDescriptor("timer", Types.LONG()))

    def process_element(self, value: tuple[str, int], ctx: KeyedProcessFunction.Context) -> None:
        self.seen.inc()
        self.count.update((self.count.value() or 0) + 1)
        timers = ctx.timer_service()
        if (earlier := self.timer.value()) is not None:
            timers.delete_event_time_timer(earlier)
        assert timers.current_watermark() < ctx.timestamp()
        self.timer.update(ctx.timestamp() + 1_000)
        timers.register_event_time_timer(ctx.timestamp() + 1_000)
        timers.register_processing_time_timer(timers.current_processing_time() + 3_600_000)
        timers.delete_processing_time_timer(timers.current_processing_time() + 3_600_000)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[str]:
        if ctx.time_domain() == TimeDomain.EVENT_TIME:
            yield f"{ctx.get_current_key()} silent at {timestamp} after {self.count.value()}"

    def close(self) -> None:
        pass


clicks = at_times(("ann", 0), ("ann", 500), ("bob", 700)).key_by(lambda click: click[0])
assert results(clicks.process(SilentFor())) == ["ann silent at 1500 after 2", "bob silent at 1700 after 1"]


class FirstOfBoth(KeyedCoProcessFunction):
    """Pair an order with its payment; report the order that is not paid within a second."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.order = runtime_context.get_state(ValueStateDescriptor("order", Types.LONG()))

    def process_element1(self, value: tuple[str, int], ctx: KeyedCoProcessFunction.Context) -> None:
        self.order.update(value[1])
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1_000)

    def process_element2(self, value: tuple[str, int], ctx: KeyedCoProcessFunction.Context) -> Iterator[str]:
        if self.order.value() is not None:
            self.order.clear()
            yield f"{ctx.get_current_key()} paid"

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterator[str]:
        assert ctx.time_domain() == TimeDomain.EVENT_TIME
        if self.order.value() is not None:
            yield f"{ctx.get_current_key()} not paid at {timestamp}"


orders = at_times(("o1", 0), ("o2", 100))
payments = at_times(("o1", 500), ("o3", 600))
matched = orders.key_by(lambda order: order[0]).connect(payments.key_by(lambda payment: payment[0]))
found = results(matched.process(FirstOfBoth()))
assert "o2 not paid at 1100" in found

# Joins


class Together(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: ProcessJoinFunction.Context) -> Iterator[str]:
        assert ctx.get_timestamp() == max(ctx.get_left_timestamp(), ctx.get_right_timestamp())
        yield f"{left[0]} {left[1]} {right[1]}"


joined = (
    orders.key_by(lambda order: order[0])
    .interval_join(payments.key_by(lambda payment: payment[0]))
    .between(Time.seconds(0), Time.seconds(1))
)
assert results(joined.process(Together())) == ["o1 0 500"]
without_the_bounds = joined.lower_bound_exclusive().upper_bound_exclusive()
assert results(without_the_bounds.process(Together())) == ["o1 0 500"]


class Names(JoinFunction):
    def join(self, first: Any, second: Any) -> str:
        return f"{first[0]} {second[1]}"


class AllNames(FlatJoinFunction):
    def join(self, first: Any, second: Any) -> Iterator[str]:
        yield first[0]
        yield second[0]


class Sizes(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Iterator[tuple[int, int]]:
        yield len(list(first)), len(list(second))


def by_id(event: tuple[str, int]) -> str:
    return event[0]


window = TumblingEventTimeWindows.of(Time.seconds(1))
join = orders.join(payments).where(by_id).equal_to(by_id).window(window)
assert results(join.apply(Names())) == ["o1 500"]
assert results(join.apply(AllNames())) == ["o1", "o1"]
groups = orders.co_group(payments).where(by_id).equal_to(by_id).window(window)
assert sorted(results(groups.apply(Sizes()))) == [(0, 1), (1, 0), (1, 1)]

# Windows that count

assert results(by_name.count_window(3).reduce(Larger())) == [("ann", 3)]
assert results(by_name.count_window(2, 1).reduce(Larger())) == [("ann", 3), ("ann", 2)]
