"""Cached records keep their timestamps."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 100


class WithTime(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
cached = env.from_collection([1, 2, 3], type_info=Types.INT()).assign_timestamps_and_watermarks(strategy).cache()
for _ in range(2):
    print(sorted(cached.process(WithTime()).execute_and_collect()))
