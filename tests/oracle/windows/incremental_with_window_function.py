"""reduce and aggregate of a keyed window hand their one result to a window function."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction, StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Process(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %d %s" % (key, context.window().start, list(elements))


class Apply(WindowFunction):
    def apply(self, key, window, inputs):
        yield "%s %s %s" % (key, window.max_timestamp(), list(inputs))


def summed(a, b):
    return a[0], a[1] + b[1]


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
windowed = (
    env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 14), ("b", 18)], type_info=pair)
    .assign_timestamps_and_watermarks(ascending)
    .key_by(lambda v: v[0], key_type=Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
)
windowed.reduce(summed).print("reduce")
windowed.reduce(summed, Process(), output_type=Types.STRING()).print("reduce-process")
windowed.reduce(summed, Apply(), output_type=Types.STRING()).print("reduce-apply")
windowed.aggregate(Average(), output_type=Types.DOUBLE()).print("aggregate")
windowed.aggregate(Average(), Process(), output_type=Types.STRING()).print("aggregate-process")
windowed.aggregate(Average(), Apply(), output_type=Types.STRING()).print("aggregate-apply")
env.execute()
