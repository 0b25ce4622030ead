"""BATCH, keyed: all rules first, then one key after the other in time order, its timers at its end."""

# modes: batch
from __future__ import annotations

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedBroadcastProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Time(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Collect(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.numbers = runtime_context.get_list_state(ListStateDescriptor("numbers", Types.INT()))

    def process_element(self, value, ctx):
        self.numbers.add(value[1] * ctx.get_broadcast_state(RULES).get("factor"))
        ctx.timer_service().register_event_time_timer(50)
        ctx.timer_service().register_event_time_timer(500)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        rules = sorted(ctx.get_broadcast_state(RULES).items())
        yield f"{ctx.get_current_key()} at {timestamp}: {list(self.numbers.get())}, {rules}"


conf = Configuration()  # see keys_one_by_one: process mode of PyFlink 2.3 loses keyed state in BATCH
conf.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(conf)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Time())
data = env.from_collection([("a", 30), ("b", 7), ("a", 10), ("c", 100), ("a", 20), ("b", 5)], type_info=pair)
rules = env.from_collection([("factor", 5), ("factor", 2), ("other", 1)], type_info=pair)
keyed = data.assign_timestamps_and_watermarks(times).key_by(lambda value: value[0], key_type=Types.STRING())
keyed.connect(rules.broadcast(RULES)).process(Collect(), output_type=Types.STRING()).print()
env.execute()
