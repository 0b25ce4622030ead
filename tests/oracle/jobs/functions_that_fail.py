"""An exception in any kind of user function fails the job."""

# timeout: 240
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, MapFunction, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


def fail(*_):
    raise ValueError("on purpose")


class InTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(5)

    def on_timer(self, timestamp, ctx):
        fail()


class InWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        fail()


class InOpen(MapFunction):
    def open(self, runtime_context):
        fail()

    def map(self, value):
        return value


class Assigner(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[7]


pair = Types.TUPLE([Types.STRING(), Types.LONG()])
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Assigner())
CASES = {
    "key selector": lambda s: s.key_by(fail, key_type=Types.STRING()).reduce(lambda a, b: a),
    "timer": lambda s: s.key_by(lambda v: v[0], key_type=Types.STRING()).process(InTimer()),
    "window": lambda s: (
        s.key_by(lambda v: v[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
        .process(InWindow())
    ),
    "reduce": lambda s: s.key_by(lambda v: v[0], key_type=Types.STRING()).reduce(fail),
    "open": lambda s: s.map(InOpen()),
    "assigner": lambda s: s.assign_timestamps_and_watermarks(strategy),
}
for name, build in CASES.items():
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([("a", 1), ("a", 2)], type_info=pair).assign_timestamps_and_watermarks(ascending)
    build(stream).filter(lambda v: False).print()
    try:
        env.execute()
        print(name, "finished")
    except Exception as error:
        print(name, "failed", ("IndexError" if name == "assigner" else "on purpose") in str(error))
