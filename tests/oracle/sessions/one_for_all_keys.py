"""Sessions over a stream without keys."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield "[%d, %d) %s" % (context.window().start, context.window().end, sorted(elements))


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = [("a", 1), ("b", 4), ("a", 30), ("c", 8), ("b", 33)]
env.from_collection(data, type_info=pair).assign_timestamps_and_watermarks(ascending).window_all(
    EventTimeSessionWindows.with_gap(Time.milliseconds(5))
).process(Show(), output_type=Types.STRING()).print()
env.execute()
