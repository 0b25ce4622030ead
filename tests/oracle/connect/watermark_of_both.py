"""A timer fires only when the watermarks of both inputs have passed it; an input that has ended holds nothing back."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Both(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])

    def process_element2(self, value, ctx):
        yield "element %d" % value[1]

    def on_timer(self, timestamp, ctx):
        yield "timer %d" % timestamp


def paused(value):
    time.sleep(0.3)
    return value


configuration = Configuration()
configuration.set_string("python.fn-execution.bundle.size", "1")
configuration.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.get_config().set_auto_watermark_interval(50)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
timers = env.from_collection([("k", 100), ("k", 250), ("k", 1000)], type_info=pair)
slow = env.from_collection([("k", 50), ("k", 101), ("k", 240), ("k", 260), ("k", 300)], type_info=pair).map(
    paused, output_type=pair
)
timers.assign_timestamps_and_watermarks(ascending).connect(slow.assign_timestamps_and_watermarks(ascending)).key_by(
    lambda v: v[0], lambda v: v[0], key_type=Types.STRING()
).process(Both(), output_type=Types.STRING()).print()
env.execute()
