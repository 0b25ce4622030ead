"""A late element within the allowed lateness extends a session that has fired, which fires again with all elements."""

# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window, texts = context.window(), sorted(e[2] for e in elements)
        yield f"{key} [{window.start}, {window.end}) {''.join(texts)}"


def slow(value):
    time.sleep(0.4)
    return value


conf = Configuration()
conf.set_string("python.fn-execution.bundle.size", "1")
conf.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(conf)
env.get_config().set_auto_watermark_interval(50)
data = [
    ("a", 10, "1"),
    ("a", 30, "2"),
    ("a", 200, "3"),
    ("a", 60, "4"),
    ("a", 110, "5"),
    ("a", 900, "6"),
    ("a", 70, "7"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed).map(slow, output_type=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()]))
windowed = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(60))).allowed_lateness(300)
fired = windowed.side_output_late_data(late).process(Show(), output_type=Types.STRING())
fired.print()
fired.get_side_output(late).map(lambda v: "late " + v[2], output_type=Types.STRING()).print()
env.execute()
