"""A reduce function that changes its first argument, over windows that share their elements."""

# parallelism: 1
# timeout: 400
from __future__ import annotations

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.window import SlidingEventTimeWindows

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["t"]


late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(100)).with_timestamp_assigner(Second())


def add(a, b):
    a["n"] += b["n"]
    return a


stream = env.from_collection([{"n": 10**i, "t": i} for i in range(4)]).assign_timestamps_and_watermarks(late)
windows = stream.key_by(lambda value: 0).window(SlidingEventTimeWindows.of(Time.milliseconds(4), Time.milliseconds(2)))
windows.reduce(add).map(lambda value: value["n"], output_type=Types.INT()).print()
env.execute()
