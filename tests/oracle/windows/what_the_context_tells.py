"""In a window function: the watermark, the processing time, the window's text and comparison."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TimeWindow, TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield "%s watermark %d clock %s same %s" % (
            window,
            context.current_watermark(),
            context.current_processing_time() > 1_600_000_000_000,
            window == TimeWindow(window.start, window.end),
        )


def paused(value):
    time.sleep(0.3)
    return value


configuration = Configuration()
configuration.set_string("python.fn-execution.bundle.size", "1")
configuration.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.get_config().set_auto_watermark_interval(50)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", 5), ("a", 25), ("a", 27)], type_info=pair).map(
    paused, output_type=pair
).assign_timestamps_and_watermarks(ascending).key_by(lambda v: v[0], key_type=Types.STRING()).window(
    TumblingEventTimeWindows.of(Time.milliseconds(10))
).process(Show(), output_type=Types.STRING()).print()
env.execute()
