"""Keyed side with state and event-time timers: on_timer reads the broadcast state and knows its key and time."""

# modes: streaming batch
from __future__ import annotations

import time

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedBroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

FACTORS = MapStateDescriptor("factors", Types.STRING(), Types.INT())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Sum(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(1000)
        if value[1] == 30:
            ctx.timer_service().register_event_time_timer(2000)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(FACTORS).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        factor = ctx.get_broadcast_state(FACTORS).get("factor")
        domain = str(ctx.time_domain()).split(".")[-1]
        yield f"{ctx.get_current_key()} at {timestamp} ({ctx.timestamp()}, {domain}): {self.sum.value() * factor}"


def slow(value):
    if value[1] == 10:
        time.sleep(3)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.INT()])
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
data = env.from_collection([("a", 10), ("b", 20), ("a", 30), ("c", 40)], type_info=pair).map(slow, output_type=pair)
factors = env.from_collection([("factor", 3), ("factor", 2)], type_info=pair)
keyed = data.assign_timestamps_and_watermarks(times).key_by(lambda value: value[0], key_type=Types.STRING())
keyed.connect(factors.broadcast(FACTORS)).process(Sum(), output_type=Types.STRING()).print()
env.execute()
