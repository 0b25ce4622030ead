"""Results carry the timestamp of the record, broadcast or not, or of the timer, that they were made from."""

# parallelism: 1
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedBroadcastProcessFunction, ProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Time(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Tell(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 1000)
        yield f"record {value[0]} {ctx.timestamp()}"

    def process_broadcast_element(self, value, ctx):
        yield f"broadcast {value[0]} {ctx.timestamp()}"
        yield f"broadcast {value[0]} again"

    def on_timer(self, timestamp, ctx):
        yield f"timer {ctx.get_current_key()} {ctx.timestamp()}"


class ShowTime(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} -> {ctx.timestamp()}"


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.INT()])
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Time())
data = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=pair).assign_timestamps_and_watermarks(times)
rules = env.from_collection([("x", 10), ("y", 20)], type_info=pair).assign_timestamps_and_watermarks(times)
told = (
    data.key_by(lambda value: value[0], key_type=Types.STRING())
    .connect(rules.broadcast(RULES))
    .process(Tell(), output_type=Types.STRING())
)
told.process(ShowTime(), output_type=Types.STRING()).print()
env.execute()
