"""Twenty mistakes, each on a line that ends with `# mistake`; all other lines are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scurry.common import Time, Types, WatermarkStrategy
from scurry.datastream import (
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from scurry.datastream.state import MapStateDescriptor, ValueState, ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows


@dataclass
class Click:
    user: str
    page: str
    at: int


env = StreamExecutionEnvironment.get_execution_environment()
clicks: DataStream[Click] = env.from_collection([Click("ann", "/", 0)])
numbers: DataStream[int] = env.from_collection([1, 2, 3])


def misspelt_field() -> None:
    clicks.map(lambda click: click.usr)  # mistake


def method_of_another_type() -> None:
    numbers.map(lambda number: number.upper())  # mistake


def function_of_another_type() -> None:
    clicks.map(len)  # mistake


def second_step_of_another_type() -> None:
    clicks.map(lambda click: click.at).map(lambda at: at.page)  # mistake


def flat_map_of_one_value() -> None:
    numbers.flat_map(lambda number: number + 1)  # mistake


def filter_of_a_misspelt_field() -> None:
    clicks.filter(lambda click: click.pag == "/")  # mistake


def misspelt_method() -> None:
    clicks.mapp(lambda click: click)  # mistake


def window_without_keys() -> None:
    clicks.window(TumblingEventTimeWindows.of(Time.minutes(1)))  # mistake


def field_name_as_key() -> None:
    clicks.key_by(7)  # mistake


def parallelism_as_text() -> None:
    env.set_parallelism("4")  # mistake


def type_as_class() -> None:
    numbers.map(lambda number: str(number), Types.STRING)  # mistake


def window_of_a_number() -> None:
    clicks.key_by(lambda click: click.user).window(60)  # mistake


def timestamps_of_a_field_that_is_none() -> None:
    strategy: WatermarkStrategy = WatermarkStrategy.for_bounded_out_of_orderness("10 s")  # mistake
    clicks.assign_timestamps_and_watermarks(strategy)


def union_of_types() -> None:
    clicks.union(numbers)  # mistake


def sink_of_text() -> None:
    clicks.sink_to("out")  # mistake


class Parse(MapFunction[str, int]):
    def map(self, value: str) -> int:
        return value  # mistake


def parse_of_another_stream() -> None:
    numbers.map(Parse())  # mistake


class Count(KeyedProcessFunction[str, Click, int]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count: ValueState[int] = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.pages = runtime_context.get_map_state(MapStateDescriptor("pages", Types.STRING(), Types.INT()))

    def process_element(self, value: Click, ctx: KeyedProcessFunction.Context[str]) -> Iterator[int]:
        self.count.update("one")  # mistake
        self.pages.update(value.page, 1)  # mistake
        yield self.count.value() or 0


def count_of_other_keys() -> None:
    clicks.key_by(lambda click: click.at).process(Count())  # mistake
