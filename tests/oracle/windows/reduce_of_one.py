"""A reduce that a key or window calls with one element gives that element; the function is not called."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


def fails(a, b):
    raise ValueError("not to be called")


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", 1), ("b", 2), ("a", 12)], type_info=pair).assign_timestamps_and_watermarks(ascending).key_by(
    lambda v: v[0], key_type=Types.STRING()
).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(fails).print("window")
env.from_collection([("a", 1), ("b", 2)], type_info=pair).key_by(lambda v: v[0], key_type=Types.STRING()).reduce(
    fails
).print("keyed")
env.execute()
