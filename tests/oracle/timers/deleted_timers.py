"""A deleted timer does not fire; deleting one that does not exist, or another key's, does nothing."""

# modes: streaming batch
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
        timers = ctx.timer_service()
        if value[2] == "set":
            timers.register_event_time_timer(value[1] + 100)
            timers.register_event_time_timer(value[1] + 200)
        else:
            timers.delete_event_time_timer(150)
            timers.delete_event_time_timer(999)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


env = StreamExecutionEnvironment.get_execution_environment()
data = [("a", 50, "set"), ("b", 50, "set"), ("a", 60, "delete"), ("c", 70, "delete"), ("c", 80, "set")]
env.from_collection(
    data, type_info=Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
).assign_timestamps_and_watermarks(ascending).key_by(lambda v: v[0], key_type=Types.STRING()).process(Remind()).print()
env.execute()
