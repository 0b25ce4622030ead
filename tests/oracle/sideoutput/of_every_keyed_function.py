"""Side outputs of keyed process functions, their timers and of windows; what nobody reads is dropped."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())

odd = OutputTag("odd", Types.STRING())
timer = OutputTag("timer", Types.TUPLE([Types.STRING(), Types.LONG()]))
unread = OutputTag("unread", Types.INT())


class Split(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1000)
        yield unread, 1
        if value[1] % 2:
            yield odd, "odd %d" % value[1]
        else:
            yield value

    def on_timer(self, timestamp, ctx):
        yield timer, (ctx.get_current_key(), timestamp)


class Windowed(ProcessWindowFunction):
    def process(self, key, context, elements):
        numbers = [e[1] for e in elements]
        yield odd, "window %s %d" % (key, sum(numbers))
        yield len(numbers)


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
keyed = (
    env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 15)], type_info=pair)
    .assign_timestamps_and_watermarks(ascending)
    .key_by(lambda v: v[0], key_type=Types.STRING())
)
split = keyed.process(Split(), output_type=pair)
split.print("main")
split.get_side_output(odd).print("odd")
split.get_side_output(timer).print("timer")
windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Windowed(), output_type=Types.INT())
windowed.print("sizes")
windowed.get_side_output(odd).print("window")
env.execute()
