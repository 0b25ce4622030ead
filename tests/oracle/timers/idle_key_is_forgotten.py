"""A session counter as users write it: each record moves the key's timer; the timer emits and clears."""

# compare: per-key
# key: (\w+):
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class CountUntilQuiet(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.due = runtime_context.get_state(ValueStateDescriptor("due", Types.LONG()))

    def process_element(self, value, ctx):
        if self.due.value() is not None:
            ctx.timer_service().delete_event_time_timer(self.due.value())
        self.count.update((self.count.value() or 0) + 1)
        self.due.update(ctx.timestamp() + 100)
        ctx.timer_service().register_event_time_timer(self.due.value())

    def on_timer(self, timestamp, ctx):
        yield "%s: %d until %d" % (ctx.get_current_key(), self.count.value(), timestamp)
        self.count.clear()
        self.due.clear()


def paused(value):
    time.sleep(0.3)
    return value


configuration = Configuration()
configuration.set_string("python.fn-execution.bundle.size", "1")
configuration.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.get_config().set_auto_watermark_interval(50)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = [("a", 10), ("a", 60), ("b", 70), ("a", 200), ("b", 320), ("a", 330)]
env.from_collection(data, type_info=pair).map(paused, output_type=pair).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.STRING()).process(CountUntilQuiet(), output_type=Types.STRING()).print()
env.execute()
