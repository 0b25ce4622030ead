"""The start of a window belongs to it, the end to the next one; offsets may be negative."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "[%d, %d) %s %d" % (
            context.window().start,
            context.window().end,
            sorted(e[1] for e in elements),
            context.window().max_timestamp(),
        )


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
ms = Time.milliseconds
keyed = (
    env.from_collection([("a", n) for n in (-11, -10, -1, 0, 9, 10, 19, 20)], type_info=pair)
    .assign_timestamps_and_watermarks(ascending)
    .key_by(lambda v: v[0], key_type=Types.STRING())
)
keyed.window(TumblingEventTimeWindows.of(ms(10))).process(Show(), output_type=Types.STRING()).print("plain")
keyed.window(TumblingEventTimeWindows.of(ms(10), ms(-3))).process(Show(), output_type=Types.STRING()).print("minus")
keyed.window(TumblingEventTimeWindows.of(ms(10), ms(9))).process(Show(), output_type=Types.STRING()).print("nine")
env.execute()
