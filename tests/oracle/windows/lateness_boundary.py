"""A window is kept until the watermark reaches its last millisecond plus the allowed lateness."""

# compare: per-key
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "[%d, %d) %s" % (context.window().start, context.window().end, [e[2] for e in elements])


def paused(value):
    time.sleep(0.3)
    return value


configuration = Configuration()
configuration.set_string("python.fn-execution.bundle.size", "1")
configuration.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.get_config().set_auto_watermark_interval(50)
late_type = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()]))
data = [
    ("a", 5, "in time"),
    ("a", 10, "9: fires"),
    ("a", 4, "1st"),
    ("a", 29, "28"),
    ("a", 9, "2nd"),
    ("a", 30, "29"),
    ("a", 3, "too late"),
]
windowed = (
    env.from_collection(data, type_info=late_type)
    .map(paused, output_type=late_type)
    .assign_timestamps_and_watermarks(ascending)
    .key_by(lambda v: v[0], key_type=Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    .allowed_lateness(20)
    .side_output_late_data(late)
    .process(Show(), output_type=Types.STRING())
)
windowed.print("window")
windowed.get_side_output(late).print("late")
env.execute()
