"""CountTrigger on sessions: the counts of sessions that merge are added up."""

# parallelism: 1
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import CountTrigger, EventTimeSessionWindows


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window, texts = context.window(), sorted(e[2] for e in elements)
        yield f"{key} [{window.start}, {window.end}) {''.join(texts)}"


env = StreamExecutionEnvironment.get_execution_environment()
data = [
    ("a", 0, "1"),
    ("a", 50, "2"),
    ("a", 100, "3"),
    ("a", 20, "4"),
    ("b", 0, "5"),
    ("a", 150, "6"),
    ("b", 500, "7"),
    ("a", 400, "8"),
    ("b", 520, "9"),
    ("b", 490, "x"),
    ("a", 440, "y"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(60))).trigger(CountTrigger.of(3)).process(
    Show(), output_type=Types.STRING()
).print()
env.execute()
