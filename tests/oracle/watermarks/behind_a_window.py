"""Results of a window get new timestamps by a strategy of their own and are windowed again."""

from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Stretched(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp * 10


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%d %s" % (context.window().start, sorted(e[1] for e in elements))


stretched = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stretched())
env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", n) for n in range(0, 60, 4)], type_info=pair).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(
    lambda a, b: (a[0], a[1] + b[1])
).assign_timestamps_and_watermarks(stretched).key_by(lambda v: v[0], key_type=Types.STRING()).window(
    TumblingEventTimeWindows.of(Time.milliseconds(200))
).process(Show(), output_type=Types.STRING()).print()
env.execute()
