"""A window assigner that puts an element into none, one or several windows."""

# parallelism: 1
# compare: per-key
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import CountTrigger, CountWindow, CountWindowSerializer, WindowAssigner


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Digits(WindowAssigner):
    """Puts an element into one window per repetition of its text, into none if that is empty."""

    def assign_windows(self, element, timestamp, context):
        return [CountWindow(len(element[2]) + i) for i in range(len(element[2]))]

    def get_default_trigger(self, env):
        return CountTrigger(2)

    def get_window_serializer(self):
        return CountWindowSerializer()

    def is_event_time(self):
        return False


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {context.window().id} {','.join(e[2] for e in elements)}"


env = StreamExecutionEnvironment.get_execution_environment()
data = [
    ("a", 0, "x"),
    ("a", 1, "xx"),
    ("a", 2, ""),
    ("a", 3, "xxx"),
    ("a", 4, "x"),
    ("a", 5, "xx"),
    ("a", 6, "xxx"),
    ("b", 0, "yy"),
    ("b", 1, "yyy"),
    ("b", 2, ""),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
keyed.window(Digits()).process(Show(), output_type=Types.STRING()).print()
env.execute()
