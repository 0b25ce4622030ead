"""More mistakes, each on a line that ends with `# mistake`; all other lines are right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from scurry.common import Duration, Time, Types, WatermarkStrategy
from scurry.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    TimeWindow,
)
from scurry.datastream.connectors.file_system import FileSink
from scurry.datastream.connectors.kafka import KafkaSource
from scurry.datastream.decorators import process
from scurry.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueState,
)
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.table import DataTypes, StreamTableEnvironment
from scurry.table.expressions import col


@dataclass
class Click:
    user: str
    page: str
    at: int


env = StreamExecutionEnvironment.get_execution_environment()
clicks: DataStream[Click] = env.from_collection([Click("ann", "/", 0)])
numbers: DataStream[int] = env.from_collection([1, 2, 3])
keyed = clicks.key_by(lambda click: click.user)


class Count(KeyedProcessFunction[str, Click, int]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.INT()))
        self.state = runtime_context.get_state(MapStateDescriptor("m", Types.STRING(), Types.INT()))  # mistake

    def process_element(self, value: Click, ctx: KeyedProcessFunction.Context[str]) -> Iterator[int]:
        self.items.add("text")  # mistake
        ctx.timer_service().register_event_time_timer("10")  # mistake
        ctx.timer_service().register_timer(10)  # mistake
        yield "text"  # mistake

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[str]) -> Iterator[int]:
        for item in self.items.get():
            yield item.upper()  # mistake


keyed.reduce(lambda a, b: a.at)  # mistake
keyed.window(TumblingEventTimeWindows.of(timedelta(minutes=1))).trigger("count")  # mistake


class Average(AggregateFunction[int, tuple[int, int], float]):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator  # mistake

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a


keyed.window(TumblingEventTimeWindows.of(timedelta(minutes=1))).aggregate(Average())  # mistake


class Pages(ProcessWindowFunction[Click, str, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[Click]
    ) -> Iterator[str]:
        yield context.window().start + " "  # mistake
        yield next(iter(elements)).usr  # mistake


clicks.connect(numbers).map(lambda click: click.user)  # mistake
clicks.process(Count())  # mistake
clicks.key_by(lambda click: click.user).process(Pages())  # mistake
env.set_runtime_mode("BATCH")  # mistake
env.enable_checkpointing("10 s")  # mistake
clicks.get_side_output("late")  # mistake
StateTtlConfig.new_builder("1 day")  # mistake
env.from_source(clicks, WatermarkStrategy.no_watermarks(), "clicks")  # mistake
KafkaSource.builder().set_topics(["a", "b"])  # mistake
KafkaSource.builder().set_starting_offsets("earliest")  # mistake
env.execute(clicks)  # mistake
clicks.print().name(5)  # mistake
numbers.map(lambda n: n + 1).filter(lambda n: n.page)  # mistake
WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds("5"))  # mistake
clicks.key_by(lambda click: click.usr)  # mistake


@process
def total(click: Click, ctx: KeyedProcessFunction.Context[str], spent: ValueState[int]) -> Iterator[str]:
    spent.update("a")  # mistake
    yield click.user


numbers.key_by(lambda n: n).process(total)  # mistake


class Ask(AsyncFunction[Click, str]):
    async def async_invoke(self, value: Click) -> list[str]:
        return value.user  # mistake


AsyncDataStream.unordered_wait(numbers, Ask(), Time.seconds(1))  # mistake
table_env = StreamTableEnvironment.create(env)
table = table_env.from_elements([(1, "a")], ["id", "name"])
table.select(col("id"), 5).wher(col("id") > 1)  # mistake
table_env.execute_sql(5)  # mistake
table_env.create_temporary_view("v", 5)  # mistake
DataTypes.ROW([DataTypes.FIELD("a", "INT")])  # mistake
table.execute().printt()  # mistake
env.read_json(5, Click)  # mistake
env.from_collection(5)  # mistake
clicks.rebalance().map(lambda c: c.pages)  # mistake
keyed.interval_join(numbers)  # mistake
keyed.count_window("5")  # mistake
clicks.map(MapFunction)  # mistake
clicks.sink_to(FileSink.for_row_format("out"))  # mistake
clicks.join(numbers).where(lambda c: c.user).equal_to(lambda n: n.user)  # mistake
Types.TUPLE(Types.INT(), Types.INT())  # mistake
Types.MAP(Types.INT())  # mistake
