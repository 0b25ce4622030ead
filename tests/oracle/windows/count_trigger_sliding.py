"""CountTrigger in sliding windows counts in each window apart and keeps the contents."""

# parallelism: 1
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import CountTrigger, SlidingEventTimeWindows


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window, texts = context.window(), sorted(e[2] for e in elements)
        yield f"{key} [{window.start}, {window.end}) {''.join(texts)}"


env = StreamExecutionEnvironment.get_execution_environment()
data = [
    ("a", 0, "0"),
    ("a", 30, "1"),
    ("a", 60, "2"),
    ("a", 90, "3"),
    ("a", 120, "4"),
    ("a", 150, "5"),
    ("a", 180, "6"),
    ("b", 5, "x"),
    ("b", 105, "y"),
    ("b", 106, "z"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(100), Time.milliseconds(50))).trigger(
    CountTrigger.of(2)
).process(Show(), output_type=Types.STRING()).print()
env.execute()
