"""BATCH: one key after another, timers at the end of each key, state not seen by other keys."""

# compare: per-key
from __future__ import annotations

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Trace(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(1000 - value[1])
        yield "%s element %d number %d" % (value[0], value[1], self.count.value())

    def on_timer(self, timestamp, ctx):
        yield "%s timer %d after %d" % (ctx.get_current_key(), timestamp, self.count.value())


configuration = Configuration()
configuration.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = [("a", 3), ("b", 9), ("a", 1), ("b", 2), ("c", 5), ("a", 2)]
env.from_collection(data, type_info=pair).assign_timestamps_and_watermarks(ascending).key_by(
    lambda v: v[0], key_type=Types.STRING()
).process(Trace(), output_type=Types.STRING()).print()
env.execute()
