"""A side output is a stream as any other: mapped, keyed, split again; timestamps stay."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())

two = OutputTag("two", Types.TUPLE([Types.STRING(), Types.LONG()]))
three = OutputTag("three", Types.TUPLE([Types.STRING(), Types.LONG()]))


class ByTwo(ProcessFunction):
    def process_element(self, value, ctx):
        yield (two, value) if value[1] % 2 == 0 else value


class ByThree(ProcessFunction):
    def process_element(self, value, ctx):
        yield (three, value) if value[1] % 3 == 0 else value


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s %d at %d" % (value[0], value[1], ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
numbers = env.from_collection([("n", n) for n in range(1, 13)], type_info=pair).assign_timestamps_and_watermarks(
    ascending
)
split = numbers.process(ByTwo(), output_type=pair)
again = split.get_side_output(two).process(ByThree(), output_type=pair)
again.process(Stamp(), output_type=Types.STRING()).print("not by 3")
sixes = again.get_side_output(three)
sixes.map(lambda v: ("m", v[1]), output_type=pair).process(Stamp(), output_type=Types.STRING()).print("by 6")
sixes.key_by(lambda v: v[0], key_type=Types.STRING()).reduce(lambda a, b: (a[0], a[1] * b[1])).print("product")
env.execute()
