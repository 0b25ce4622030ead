"""The pattern of Flink's guide to broadcast state, in BATCH: pairs of shapes of one colour, by rules."""

# modes: batch
from __future__ import annotations

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedBroadcastProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.TUPLE([Types.STRING(), Types.STRING()]))
PARTIAL = MapStateDescriptor("partial", Types.STRING(), Types.LIST(Types.INT()))


class Time(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


class Match(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.partial = runtime_context.get_map_state(PARTIAL)

    def process_element(self, value, ctx):
        number, shape, color = value
        for name, (first, second) in sorted(ctx.get_broadcast_state(RULES).items()):
            waiting = list(self.partial.get(name) or [])
            if shape == second and waiting:
                for earlier in waiting:
                    yield f"{name}: {color} {earlier}, {number}"
                waiting = []
            if shape == first:
                waiting.append(number)
            self.partial.put(name, waiting)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], (value[1], value[2]))


conf = Configuration()  # see keys_one_by_one: process mode of PyFlink 2.3 loses keyed state in BATCH
conf.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(conf)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
texts = [Types.STRING(), Types.STRING()]
shapes = ["circle", "square", "star", "circle", "circle", "square", "star", "square"]
items = [(i, shape, ["red", "blue"][i % 3 % 2]) for i, shape in enumerate(shapes * 2)]
rules = [("a pair", "star", "star"), ("corners", "circle", "square"), ("a pair", "square", "square")]
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Time())
data = env.from_collection(items, type_info=Types.TUPLE([Types.INT(), *texts])).assign_timestamps_and_watermarks(times)
broadcast = env.from_collection(rules, type_info=Types.TUPLE([Types.STRING(), *texts])).broadcast(RULES)
data.key_by(lambda item: item[2], key_type=Types.STRING()).connect(broadcast).process(
    Match(), output_type=Types.STRING()
).print()
env.execute()
