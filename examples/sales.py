"""Sales per minute and city, of orders that arrive out of order."""

from __future__ import annotations

from scurry.common import Duration, Time, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.window import TumblingEventTimeWindows

# city, amount, and when it was ordered, in milliseconds
orders = [("oslo", 20, 1_000), ("rome", 35, 2_000), ("oslo", 15, 61_000), ("oslo", 40, 59_000), ("rome", 10, 130_000)]

env = StreamExecutionEnvironment.get_execution_environment()
(
    env.from_collection(orders)
    .assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(10)).with_timestamp_assigner(
            lambda order, _: order[2]
        )
    )
    .key_by(lambda order: order[0])
    .window(TumblingEventTimeWindows.of(Time.minutes(1)))
    .reduce(lambda a, b: (a[0], a[1] + b[1], a[2]))
    .map(lambda order: f"minute {order[2] // 60_000}: {order[0]} sold for {order[1]}")
    .print()
)
env.execute("sales per minute")
