"""count_window(size, slide): the first window fires at `size` elements, then one every `slide`."""

# parallelism: 1
# compare: per-key
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {''.join(e[2] for e in elements)}"


env = StreamExecutionEnvironment.get_execution_environment()
data = [
    ("a", 0, "0"),
    ("a", 1, "1"),
    ("a", 2, "2"),
    ("a", 3, "3"),
    ("a", 4, "4"),
    ("a", 5, "5"),
    ("a", 6, "6"),
    ("a", 7, "7"),
    ("a", 8, "8"),
    ("b", 0, "v"),
    ("b", 1, "w"),
    ("b", 2, "x"),
    ("b", 3, "y"),
    ("b", 4, "z"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
keyed.count_window(5, 2).process(Show(), output_type=Types.STRING()).print()
env.execute()
