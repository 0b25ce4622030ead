"""A window that an element fires has results with the timestamp of that element, and none if it has none."""

# parallelism: 1
# modes: streaming batch
# timeout: 400
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger, TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s at %d" % (value, ctx.timestamp())


class Count(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s of %d" % (key, len(list(elements)))


def add(left, right):
    return left[0], left[1] + right[1]


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
plain = env.from_collection([("a", 1), ("a", 8), ("a", 25), ("b", 3), ("b", 31), ("a", 32), ("a", 33)], type_info=pair)
ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
keyed = plain.assign_timestamps_and_watermarks(ascending).key_by(lambda v: v[0], key_type=Types.STRING())
tens = TumblingEventTimeWindows.of(Time.milliseconds(10))


def show(stream, name):
    stream.map(lambda v: str(v), Types.STRING()).process(Stamp(), output_type=Types.STRING()).print(name)


show(keyed.count_window(2).reduce(add), "count")
show(keyed.count_window(3, 1).reduce(add), "sliding count")
show(keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2))).process(Count()), "global")
show(keyed.window(tens).trigger(CountTrigger.of(1)).reduce(add), "tumbling")
show(plain.key_by(lambda v: v[0]).count_window(2).reduce(add), "without timestamps")
counted = keyed.count_window(2).reduce(add).key_by(lambda v: v[0], key_type=Types.STRING())
show(counted.window(tens).reduce(add), "counted, then tumbling")
env.execute()
