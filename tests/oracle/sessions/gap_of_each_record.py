"""With a dynamic gap each record opens a window as long as it says."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s [%d, %d) %s" % (key, context.window().start, context.window().end, sorted(e[1] for e in elements))


env = StreamExecutionEnvironment.get_execution_environment()
data = [("a", 0, 100), ("a", 20, 1), ("a", 99, 1), ("a", 101, 5), ("b", 0, 1), ("b", 1, 10), ("b", 12, 1)]
env.from_collection(
    data, type_info=Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
).assign_timestamps_and_watermarks(ascending).key_by(lambda v: v[0], key_type=Types.STRING()).window(
    EventTimeSessionWindows.with_dynamic_gap(Gap())
).process(Show(), output_type=Types.STRING()).print()
env.execute()
