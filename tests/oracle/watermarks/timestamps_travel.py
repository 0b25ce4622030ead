"""Timestamps pass through map, filter, flat_map, keys, unions, repartitioning and co-functions."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import CoMapFunction, KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s at %d" % (value[0], ctx.timestamp())


class Keep(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
stamped = env.from_collection([("a", 1), ("b", -2), ("c", 3)], type_info=pair).assign_timestamps_and_watermarks(
    ascending
)
mapped = stamped.map(lambda v: (v[0] + "!", 0), output_type=pair)
flat = mapped.filter(lambda v: v[0] != "b!").flat_map(lambda v: [v, v], output_type=pair)
keyed = flat.rebalance().key_by(lambda v: v[0], key_type=Types.STRING()).process(Keep(), output_type=pair)
keyed.union(mapped).process(Stamp(), output_type=Types.STRING()).print("union")
keyed.connect(stamped).map(Both(), output_type=pair).process(Stamp(), output_type=Types.STRING()).print("connected")
stamped.key_by(lambda v: v[0], key_type=Types.STRING()).reduce(lambda a, b: a).process(
    Stamp(), output_type=Types.STRING()
).print("reduced")
env.execute()
