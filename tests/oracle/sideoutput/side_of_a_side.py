"""A side output is a stream as any other: mapped, keyed, split again; timestamps stay."""
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())

even = OutputTag("even", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Split(ProcessFunction):
    def __init__(self, by):
        self.by = by

    def process_element(self, value, ctx):
        if value[1] % self.by == 0:
            yield even, value
        else:
            yield value


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s %d at %d" % (value[0], value[1], ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
numbers = env.from_collection([("n", n) for n in range(1, 13)], type_info=pair) \
    .assign_timestamps_and_watermarks(ascending)
twos = numbers.process(Split(2), output_type=pair).get_side_output(even)
again = twos.process(Split(3), output_type=pair)
again.process(Stamp(), output_type=Types.STRING()).print("not by 3")
sixes = again.get_side_output(even)
sixes.map(lambda v: ("m", v[1]), output_type=pair).process(Stamp(), output_type=Types.STRING()).print("by 6")
sixes.key_by(lambda v: v[0], key_type=Types.STRING()).reduce(lambda a, b: (a[0], a[1] * b[1])).print("product")
env.execute()
