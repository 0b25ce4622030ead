"""Without watermarks event time stands still until the end of the input closes all windows, in order of time."""

# compare: per-key
# key: ^(\w+> \w+)
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %d %s" % (key, context.window().start, sorted(e[1] for e in elements))


class Now(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield "%s %d" % (value[0], ctx.timer_service().current_watermark())


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
keyed = (
    env.from_collection([("a", 55), ("b", 2), ("a", 3), ("a", 21), ("b", 4)], type_info=pair)
    .assign_timestamps_and_watermarks(WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second()))
    .key_by(lambda v: v[0], key_type=Types.STRING())
)
keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Show(), output_type=Types.STRING()).print(
    "window"
)
keyed.process(Now(), output_type=Types.STRING()).print("now")
env.execute()
