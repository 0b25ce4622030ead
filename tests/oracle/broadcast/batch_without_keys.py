"""BATCH: the broadcast side is processed to its end before the first record of the other, however slow it is."""

# modes: batch
from __future__ import annotations

import time

from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Apply(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} {sorted(ctx.get_broadcast_state(RULES).items())} {ctx.current_watermark()}"

    def process_broadcast_element(self, value, ctx):
        rules = ctx.get_broadcast_state(RULES)
        rules.put(value[0], (rules.get(value[0]) or 0) + value[1])


def slow(value):
    time.sleep(0.5)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
data = env.from_collection([1, 2, 3], type_info=Types.INT())
rules = env.from_collection([("a", 1), ("b", 2), ("a", 10)], type_info=pair).map(slow, output_type=pair)
data.connect(rules.broadcast(RULES)).process(Apply(), output_type=Types.STRING()).print()
env.execute()
