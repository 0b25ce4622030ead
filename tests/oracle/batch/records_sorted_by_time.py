"""BATCH: a key's records come in the order of their timestamps, ties in the order of the input."""

# compare: per-key
from __future__ import annotations

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Pass(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield "%s %s %d" % (value[0], value[2], ctx.timestamp())


configuration = Configuration()
configuration.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
t = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
data = [("a", 30, "x"), ("b", 5, "x"), ("a", 10, "y"), ("a", 20, "z"), ("a", 10, "w"), ("b", -1, "y")]
env.from_collection(data, type_info=t).assign_timestamps_and_watermarks(ascending).key_by(
    lambda v: v[0], key_type=Types.STRING()
).process(Pass(), output_type=Types.STRING()).print()
env.execute()
