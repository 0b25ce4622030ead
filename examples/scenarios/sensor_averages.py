"""Averages of sensors per minute, with an aggregate function: its accumulator is all that is kept of a window.

Prints:

    s1: 21.0 of 2
    s2: 5.0 of 1
    s1: 30.0 of 1
    s2: 6.0 of 1
"""

from __future__ import annotations

from scurry.common import Time, WatermarkStrategy
from scurry.datastream import AggregateFunction, StreamExecutionEnvironment
from scurry.datastream.window import TumblingEventTimeWindows


class Average(AggregateFunction):
    def create_accumulator(self):
        return None, 0.0, 0

    def add(self, reading, accumulator):
        _, total, count = accumulator
        return reading[0], total + reading[1], count + 1

    def merge(self, a, b):
        return a[0] or b[0], a[1] + b[1], a[2] + b[2]

    def get_result(self, accumulator):
        sensor, total, count = accumulator
        return f"{sensor}: {total / count:.1f} of {count}"


READINGS = [("s1", 20.0, 1), ("s2", 5.0, 10), ("s1", 22.0, 59), ("s1", 30.0, 60), ("s2", 6.0, 61)]

env = StreamExecutionEnvironment.get_execution_environment()
by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda reading, _: reading[2] * 1000)
(
    env.from_collection(READINGS)
    .assign_timestamps_and_watermarks(by_time)
    .key_by(lambda reading: reading[0])
    .window(TumblingEventTimeWindows.of(Time.minutes(1)))
    .aggregate(Average())
    .print()
)
env.execute("averages")
