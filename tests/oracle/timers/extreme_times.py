"""Timers before the epoch, at zero and at the last moment fire; the last watermark is at that moment."""

# compare: per-key
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
        for at in (2**63 - 1, 0, -5, 2**40):
            ctx.timer_service().register_event_time_timer(at)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, ctx.timestamp(), ctx.timer_service().current_watermark()


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", -100), ("b", -50)], type_info=pair).assign_timestamps_and_watermarks(ascending).key_by(
    lambda v: v[0], key_type=Types.STRING()
).process(Remind()).print()
env.execute()
