"""Several broadcast states in one function, each with its own types; a state declared second is no less there."""

# modes: streaming batch
from __future__ import annotations

import time

from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

LIMITS = MapStateDescriptor("limits", Types.STRING(), Types.INT())
BLOCKED = MapStateDescriptor("blocked", Types.INT(), Types.BOOLEAN())
NAMES = MapStateDescriptor("names", Types.INT(), Types.TUPLE([Types.STRING(), Types.STRING()]))


class Check(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        limit = ctx.get_broadcast_state(LIMITS).get("max")
        blocked = ctx.get_broadcast_state(BLOCKED).contains(value)
        name = ctx.get_broadcast_state(NAMES)[value]
        yield f"{value}: {name}, over the limit: {value > limit}, blocked: {blocked}"

    def process_broadcast_element(self, value, ctx):
        kind, key, text = value
        if kind == "limit":
            ctx.get_broadcast_state(LIMITS).put(text, key)
        elif kind == "block":
            ctx.get_broadcast_state(BLOCKED).put(key, True)
        else:
            ctx.get_broadcast_state(NAMES).put(key, (text, text.upper()))


def slow(value):
    if value == 1:
        time.sleep(3)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
data = env.from_collection([1, 2, 3, 4], type_info=Types.INT()).map(slow, output_type=Types.INT()).set_parallelism(1)
control = env.from_collection(
    [("limit", 2, "max"), ("block", 3, ""), ("block", 1, ""), ("name", 4, "four"), ("name", 1, "one")],
    type_info=Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()]),
)
data.connect(control.broadcast(LIMITS, BLOCKED, NAMES)).process(Check(), output_type=Types.STRING()).print()
env.execute()
