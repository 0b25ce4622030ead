"""Co-process functions, keyed or not, emit to side outputs from both inputs and from timers."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import CoProcessFunction, KeyedCoProcessFunction, OutputTag, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())

left = OutputTag("left", Types.STRING())
right = OutputTag("right", Types.LONG())


class Keyed(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield left, "left %s" % value[0]
        ctx.timer_service().register_event_time_timer(500)

    def process_element2(self, value, ctx):
        yield right, value[1]

    def on_timer(self, timestamp, ctx):
        yield right, timestamp
        yield "timer %s" % ctx.get_current_key()


class Plain(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield left, "plain %s" % value[0]

    def process_element2(self, value, ctx):
        yield "second %d" % value[1]


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
one = env.from_collection([("a", 1), ("b", 2)], type_info=pair).assign_timestamps_and_watermarks(ascending)
two = env.from_collection([("a", 10), ("c", 20)], type_info=pair).assign_timestamps_and_watermarks(ascending)
keyed = (
    one.connect(two)
    .key_by(lambda v: v[0], lambda v: v[0], key_type=Types.STRING())
    .process(Keyed(), output_type=Types.STRING())
)
keyed.print("keyed")
keyed.get_side_output(left).print("left")
keyed.get_side_output(right).print("right")
plain = one.connect(two).process(Plain(), output_type=Types.STRING())
plain.print("plain")
plain.get_side_output(left).print("plain-left")
env.execute()
