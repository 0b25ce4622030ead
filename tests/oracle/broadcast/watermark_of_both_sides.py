"""Event time is the lower of both watermarks: timers wait for the broadcast side, and so see rules that came late."""

# modes: streaming batch
from __future__ import annotations

import time

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedBroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Time(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Wait(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        yield f"{ctx.get_current_key()} at {timestamp}: {sorted(ctx.get_broadcast_state(RULES).items())}"


def slow(value):
    if value[0] == "first":
        time.sleep(3)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.INT()])
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Time())
data = env.from_collection([("a", 100), ("b", 200), ("a", 300)], type_info=pair)
rules = env.from_collection([("first", 50), ("second", 60)], type_info=pair).map(slow, output_type=pair)
keyed = data.assign_timestamps_and_watermarks(times).key_by(lambda value: value[0], key_type=Types.STRING())
broadcast = rules.assign_timestamps_and_watermarks(times).broadcast(RULES)
keyed.connect(broadcast).process(Wait(), output_type=Types.STRING()).print()
env.execute()
