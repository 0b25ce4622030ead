"""Both inputs of a keyed co-process function see the same state of a key."""

# compare: last-per-key
# key: ^(\w+)
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ReducingStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Balance(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()))

    def process_element1(self, value, ctx):
        self.sum.add(value[1])
        ctx.timer_service().register_event_time_timer(10**6)

    def process_element2(self, value, ctx):
        self.sum.add(-value[1])

    def on_timer(self, timestamp, ctx):
        yield "%s %d" % (ctx.get_current_key(), self.sum.get())


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
credit = env.from_collection([("a", 100), ("b", 50), ("a", 7)], type_info=pair)
debit = env.from_collection([("a", 30), ("c", 1), ("b", 50)], type_info=pair)
credit.assign_timestamps_and_watermarks(ascending).key_by(lambda v: v[0], key_type=Types.STRING()).connect(
    debit.assign_timestamps_and_watermarks(ascending).key_by(lambda v: v[0], key_type=Types.STRING())
).process(Balance(), output_type=Types.STRING()).print()
env.execute()
