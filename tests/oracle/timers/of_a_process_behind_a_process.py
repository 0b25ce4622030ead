"""A second keyed function sets timers by the times of the first one's results."""

# compare: per-key
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Later(KeyedProcessFunction):
    def __init__(self, delay):
        self.delay = delay

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + self.delay)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", 1), ("b", 2), ("a", 5)], type_info=pair).assign_timestamps_and_watermarks(ascending).key_by(
    lambda v: v[0], key_type=Types.STRING()
).process(Later(10), output_type=pair).key_by(lambda v: v[0], key_type=Types.STRING()).process(
    Later(100), output_type=pair
).print()
env.execute()
