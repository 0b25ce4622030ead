"""Timers of many keys for the same time all fire, each with its own key and state."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class AtTheEnd(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        ctx.timer_service().register_event_time_timer(10_000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, sum(self.seen.get())


env = StreamExecutionEnvironment.get_execution_environment()
data = [(n % 40, n) for n in range(200)]
env.from_collection(data, type_info=Types.TUPLE([Types.INT(), Types.LONG()])).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.INT()).process(AtTheEnd()).print()
env.execute()
