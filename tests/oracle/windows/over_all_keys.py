"""window_all with reduce, aggregate, apply and process, alone and combined with a window function."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Show(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield "%d: %s" % (context.window().start, sorted(map(str, elements)))


class Apply(AllWindowFunction):
    def apply(self, window, inputs):
        yield "%s has %d" % (window.end, len(list(inputs)))


def later(a, b):
    return max(a, b, key=lambda v: v[1])


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
windowed = (
    env.from_collection([("a", 1), ("b", 2), ("a", 12), ("c", 19), ("c", 35)], type_info=pair)
    .assign_timestamps_and_watermarks(ascending)
    .window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
)
windowed.reduce(later).print("reduce")
windowed.reduce(later, Show(), output_type=Types.STRING()).print("reduced")
windowed.aggregate(Count(), output_type=Types.INT()).print("aggregate")
windowed.aggregate(Count(), Show(), output_type=Types.STRING()).print("aggregated")
windowed.apply(Apply(), output_type=Types.STRING()).print("apply")
windowed.process(Show(), output_type=Types.STRING()).print("process")
env.execute()
