"""PurgingTrigger on a window over all records."""

# parallelism: 1
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import AllWindowFunction
from pyflink.datastream.window import CountTrigger, PurgingTrigger, TumblingEventTimeWindows


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Joined(AllWindowFunction):
    def apply(self, window, inputs):
        yield f"[{window.start}, {window.end}) {''.join(e[2] for e in inputs)}"


env = StreamExecutionEnvironment.get_execution_environment()
data = [
    ("a", 0, "0"),
    ("a", 10, "1"),
    ("a", 20, "2"),
    ("a", 30, "3"),
    ("a", 40, "4"),
    ("a", 50, "5"),
    ("a", 60, "6"),
    ("a", 70, "7"),
    ("a", 80, "8"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
windowed = stream.window_all(TumblingEventTimeWindows.of(Time.milliseconds(50)))
windowed.trigger(PurgingTrigger.of(CountTrigger.of(3))).apply(Joined(), output_type=Types.STRING()).print()
env.execute()
