"""Results of a window carry its last millisecond, so wider windows over them hold them."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


def summed(a, b):
    return a[0], a[1] + b[1]


class Top(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield "%d %s" % (context.window().start, sorted(elements, key=lambda e: (-e[1], e[0]))[:2])


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = [("abc"[n % 3], n * 3) for n in range(20)]
small = (
    env.from_collection(data, type_info=pair)
    .assign_timestamps_and_watermarks(ascending)
    .key_by(lambda v: v[0], key_type=Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    .reduce(summed)
)
small.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Top(), output_type=Types.STRING()).print(
    "ten"
)
small.window_all(TumblingEventTimeWindows.of(Time.milliseconds(30))).process(Top(), output_type=Types.STRING()).print(
    "thirty"
)
env.execute()
