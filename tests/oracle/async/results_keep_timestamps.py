"""Results carry the timestamp of their record: event-time windows behind an async operator."""

from __future__ import annotations

import asyncio

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Twice(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.05 * (value[1] % 3))
        return [(value[0], 1), (value[0], 10)]


env = StreamExecutionEnvironment.get_execution_environment()
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
data = [("a", 1), ("b", 2), ("a", 900), ("a", 1000), ("b", 1500), ("a", 2100)]
pair = Types.TUPLE([Types.STRING(), Types.INT()])
ds = env.from_collection(data, type_info=pair).assign_timestamps_and_watermarks(strategy)
AsyncDataStream.unordered_wait(ds, Twice(), Time.seconds(20), 10, pair).key_by(
    lambda v: v[0], key_type=Types.STRING()
).window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(lambda a, b: (a[0], a[1] + b[1])).print()
env.execute()
