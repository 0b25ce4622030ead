"""Window functions with state from open(), which belongs to the key, in windows of several keys."""

# compare: multiset
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    ProcessWindowFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def more(state):
    state.update((state.value() or 0) + 1)
    return state.value()


class Process(ProcessWindowFunction):
    def open(self, runtime_context):
        self.calls = runtime_context.get_state(ValueStateDescriptor("calls", Types.INT()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def process(self, key, context, elements):
        self.seen.add_all([each[1] for each in elements])
        shared = more(context.global_state().get_state(ValueStateDescriptor("shared", Types.INT())))
        yield f"{key} {context.window().start} {more(self.calls)} {sorted(self.seen.get())} {shared}"


class Apply(WindowFunction):
    def open(self, runtime_context):
        self.calls = runtime_context.get_state(ValueStateDescriptor("calls", Types.INT()))

    def apply(self, key, window, inputs):
        yield f"{key} {window.start} {more(self.calls)} {[each[1] for each in inputs]}"


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return value1[0], value1[1] + value2[1]


class Sum(AggregateFunction):
    def create_accumulator(self):
        return "", 0

    def add(self, value, accumulator):
        return value[0], accumulator[1] + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a[0] or b[0], a[1] + b[1]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t = Types.TUPLE([Types.STRING(), Types.INT()])
ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
records = [(key, time) for time in (1, 2, 11, 12, 13, 31) for key in ("a", "b", "c") if (key, time) != ("b", 12)]
keyed = (
    env.from_collection(records, type_info=t)
    .assign_timestamps_and_watermarks(ascending)
    .key_by(lambda v: v[0], key_type=Types.STRING())
)
s = Types.STRING()
for name, windows in [
    ("tumbling", TumblingEventTimeWindows.of(Time.milliseconds(10))),
    ("sliding", SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10))),
    ("session", EventTimeSessionWindows.with_gap(Time.milliseconds(5))),
]:
    keyed.window(windows).process(Process(), output_type=s).print(name + " process")
    keyed.window(windows).apply(Apply(), output_type=s).print(name + " apply")
    keyed.window(windows).reduce(Add(), Process(), output_type=s).print(name + " reduce")
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    keyed.window(windows).aggregate(Sum(), Apply(), accumulator_type=pair, output_type=s).print(name + " aggregate")
env.execute()
