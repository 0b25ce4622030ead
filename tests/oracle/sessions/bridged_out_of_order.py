"""A record between sessions merges them; chains of merges give one session."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s [%d, %d) %s" % (key, context.window().start, context.window().end, sorted(e[1] for e in elements))


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = [("a", 0), ("a", 40), ("a", 20), ("a", 60), ("a", 10), ("b", 100), ("b", 0), ("b", 50), ("a", 30), ("a", 50)]
env.from_collection(data, type_info=pair).assign_timestamps_and_watermarks(ascending).key_by(
    lambda v: v[0], key_type=Types.STRING()
).window(EventTimeSessionWindows.with_gap(Time.milliseconds(10))).process(Show(), output_type=Types.STRING()).print()
env.execute()
