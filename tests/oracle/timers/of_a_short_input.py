"""A collection read before the first periodic watermark: timers fire at the last watermark."""

# compare: per-key
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
        ctx.timer_service().register_event_time_timer(value[1])
        yield "%s element %d" % (value[0], value[1])

    def on_timer(self, timestamp, ctx):
        last = ctx.timer_service().current_watermark() == 2**63 - 1
        yield "%s timer %d %s" % (ctx.get_current_key(), timestamp, last)


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", 1), ("b", 5), ("a", 900), ("b", 1000)], type_info=pair).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.STRING()).process(Remind(), output_type=Types.STRING()).print()
env.execute()
