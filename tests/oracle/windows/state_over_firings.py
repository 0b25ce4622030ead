"""Window state lasts from firing to firing of a window, global state of a key from window to window; clear() ends."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessWindowFunction):
    def __init__(self):
        self.firings = ValueStateDescriptor("firings", Types.INT())
        self.all_firings = ValueStateDescriptor("all firings", Types.INT())

    def process(self, key, context, elements):
        here = context.window_state().get_state(self.firings)
        everywhere = context.global_state().get_state(self.all_firings)
        here.update((here.value() or 0) + 1)
        everywhere.update((everywhere.value() or 0) + 1)
        yield "%d %s: %d of %d" % (context.window().start, [e[1] for e in elements], here.value(), everywhere.value())

    def clear(self, context):
        context.window_state().get_state(self.firings).clear()


def paused(value):
    time.sleep(0.3)
    return value


configuration = Configuration()
configuration.set_string("python.fn-execution.bundle.size", "1")
configuration.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.get_config().set_auto_watermark_interval(50)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = [("a", 5), ("a", 15), ("a", 4), ("a", 6), ("a", 21), ("a", 14), ("a", 60), ("a", 70)]
env.from_collection(data, type_info=pair).map(paused, output_type=pair).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.STRING()).window(
    TumblingEventTimeWindows.of(Time.milliseconds(10))
).allowed_lateness(15).process(Show(), output_type=Types.STRING()).print()
env.execute()
