"""Programs without a mistake: no type checker may find one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scurry.common import Duration, Time, Types, WatermarkStrategy
from scurry.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    TimeWindow,
)
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows


@dataclass
class Click:
    user: str
    page: str
    at: int


LATE = OutputTag("late", Types.PICKLED_BYTE_ARRAY())
env = StreamExecutionEnvironment.get_execution_environment()
clicks = env.from_collection([Click("ann", "/", 0)])
by_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)).with_timestamp_assigner(
    lambda click, _: click.at
)


class Count(KeyedProcessFunction[str, Click, tuple[str, int]]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.pages = runtime_context.get_map_state(MapStateDescriptor("pages", Types.STRING(), Types.INT()))

    def process_element(self, value: Click, ctx: KeyedProcessFunction.Context[str]) -> Iterator[tuple[str, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        self.pages.put(value.page, (self.pages.get(value.page) or 0) + 1)
        ctx.timer_service().register_event_time_timer(value.at + 1)
        yield ctx.get_current_key(), count


class Latest(KeyedProcessFunction[str, Click, str]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.pages = runtime_context.get_list_state(ListStateDescriptor("pages", Types.STRING()))

    def process_element(self, value: Click, ctx: KeyedProcessFunction.Context[str]) -> Iterator[str]:
        seen = [page.upper() for page in self.pages.get()]
        self.pages.update(seen[-9:])
        self.pages.add(value.page)
        for page in self.pages:
            yield page.upper()


class Pages(ProcessWindowFunction[Click, str, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[Click]
    ) -> Iterator[str]:
        yield f"{key} {context.window().end}: {sorted(click.page for click in elements)}"


class Average(AggregateFunction[Click, tuple[int, int], float]):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Click, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value.at, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


users: DataStream[str] = clicks.map(lambda click: click.user)
lengths: DataStream[int] = users.map(len).filter(lambda length: length > 2)
letters: DataStream[str] = users.flat_map(lambda user: list(user))
declared: DataStream[int] = users.map(len, Types.LONG())
timed = clicks.assign_timestamps_and_watermarks(by_time)
keyed = timed.key_by(lambda click: click.user)
counts: DataStream[tuple[str, int]] = keyed.process(Count())
counts.map(lambda pair: f"{pair[0]}: {pair[1]}").print()
keyed.window(TumblingEventTimeWindows.of(Time.minutes(1))).side_output_late_data(LATE).process(Pages()).print()
keyed.window(SlidingEventTimeWindows.of(Time.minutes(5), Time.minutes(1))).aggregate(Average()).print()
keyed.window(EventTimeSessionWindows.with_gap(Time.minutes(1))).reduce(lambda a, b: a).print()
users.union(letters).print()
