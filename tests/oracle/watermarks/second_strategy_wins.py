"""A strategy further down replaces the timestamps and watermarks of the first; windows go by the last one."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Third(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2] + record_timestamp


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%d %s" % (context.window().start, sorted(e[1] for e in elements))


env = StreamExecutionEnvironment.get_execution_environment()
t = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
env.from_collection([("a", 1, 100), ("a", 12, 200), ("a", 15, 50)], type_info=t).assign_timestamps_and_watermarks(
    ascending
).map(lambda v: v, output_type=t).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(200)).with_timestamp_assigner(Third())
).key_by(lambda v: v[0], key_type=Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(
    Show(), output_type=Types.STRING()
).print()
env.execute()
