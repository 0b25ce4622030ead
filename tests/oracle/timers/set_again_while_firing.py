"""A timer set for its own time while it fires fires once more; the key's state decides when it stops."""

# compare: per-key
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Thrice(KeyedProcessFunction):
    def open(self, runtime_context):
        self.fired = runtime_context.get_state(ValueStateDescriptor("fired", Types.INT()))

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        count = (self.fired.value() or 0) + 1
        self.fired.update(count)
        yield "%s %d fired %d" % (ctx.get_current_key(), timestamp, count)
        if count < 3:
            ctx.timer_service().register_event_time_timer(timestamp)


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", 10), ("b", 20)], type_info=pair).assign_timestamps_and_watermarks(ascending).key_by(
    lambda v: v[0], key_type=Types.STRING()
).process(Thrice(), output_type=Types.STRING()).print()
env.execute()
