"""Sliding windows with an offset, over times before and after the epoch, where slide does not divide size."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import SlidingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "[%d, %d) %s" % (context.window().start, context.window().end, sorted(e[1] for e in elements))


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
ms = Time.milliseconds
keyed = (
    env.from_collection([("a", n) for n in (-13, -7, -1, 0, 1, 6, 7, 13)], type_info=pair)
    .assign_timestamps_and_watermarks(ascending)
    .key_by(lambda v: v[0], key_type=Types.STRING())
)
keyed.window(SlidingEventTimeWindows.of(ms(10), ms(5), ms(2))).process(Show(), output_type=Types.STRING()).print("two")
keyed.window(SlidingEventTimeWindows.of(ms(10), ms(5), ms(-1))).process(Show(), output_type=Types.STRING()).print(
    "minus"
)
keyed.window(SlidingEventTimeWindows.of(ms(7), ms(3))).process(Show(), output_type=Types.STRING()).print("7by3")
keyed.window(SlidingEventTimeWindows.of(ms(2), ms(5))).process(Show(), output_type=Types.STRING()).print("gaps")
env.execute()
