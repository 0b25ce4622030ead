"""A timer fires once the watermark is at its time: ascending timestamps have a watermark of the highest minus one."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(100)
        yield "element %d watermark %d" % (value[1], max(ctx.timer_service().current_watermark(), -1))

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
env.from_collection([("a", 99), ("a", 100), ("a", 101), ("a", 102)], type_info=pair).map(
    paused, output_type=pair
).assign_timestamps_and_watermarks(ascending).key_by(lambda v: v[0], key_type=Types.STRING()).process(
    Remind(), output_type=Types.STRING()
).print()
env.execute()
