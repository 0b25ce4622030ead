"""A result of a window [0, 10) has the timestamp 9, whatever the function; late data keeps its own."""

from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Each(ProcessWindowFunction):
    def process(self, key, context, elements):
        for element in elements:
            yield "element %d" % element[1]


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s at %d" % (value, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
ms = Time.milliseconds
keyed = (
    env.from_collection([("a", 1), ("a", 8), ("a", 25), ("b", -3)], type_info=pair)
    .assign_timestamps_and_watermarks(ascending)
    .key_by(lambda v: v[0], key_type=Types.STRING())
)
keyed.window(TumblingEventTimeWindows.of(ms(10))).process(Each(), output_type=Types.STRING()).process(
    Stamp(), output_type=Types.STRING()
).print("tumbling")
keyed.window(SlidingEventTimeWindows.of(ms(20), ms(10))).reduce(lambda a, b: b).process(
    Stamp(), output_type=Types.STRING()
).print("sliding")
keyed.window(EventTimeSessionWindows.with_gap(ms(12))).process(Each(), output_type=Types.STRING()).process(
    Stamp(), output_type=Types.STRING()
).print("session")
env.execute()
