"""A timer registered several times for the same key and time fires once; event and processing time are kept apart."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.time_domain import TimeDomain


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        for _ in range(3):
            ctx.timer_service().register_event_time_timer(1000)
        ctx.timer_service().delete_processing_time_timer(1000)
        yield "element %s %d" % (value[0], ctx.timestamp())

    def on_timer(self, timestamp, ctx):
        yield "timer %s %d %s" % (ctx.get_current_key(), timestamp, ctx.time_domain() == TimeDomain.EVENT_TIME)


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 4)], type_info=pair).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.STRING()).process(Remind(), output_type=Types.STRING()).print()
env.execute()
