"""What on_timer emits has the timer's time as timestamp, what process_element emits that of the record."""

# modes: streaming
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 1000)
        yield "element"

    def on_timer(self, timestamp, ctx):
        yield "timer"


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s at %d" % (value, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", 10), ("b", 20), ("a", 30)], type_info=pair).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.STRING()).process(Remind(), output_type=Types.STRING()).process(
    Stamp(), output_type=Types.STRING()
).print()
env.execute()
