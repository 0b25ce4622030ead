"""When a watermark passes many timers they fire in the order of their times, whatever the key."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1000 - value[1])

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("abc"[n % 3], n * 7 % 31) for n in range(12)], type_info=pair).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.STRING()).process(Remind()).print()
env.execute()
