"""Side outputs from all three: the records of the keyed side, its timers, and the broadcast side."""

# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Types
from pyflink.datastream import KeyedBroadcastProcessFunction, OutputTag, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
AUDIT = OutputTag("audit", Types.STRING())
NOISE = OutputTag("noise", Types.INT())


class Split(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        least = ctx.get_broadcast_state(RULES).get("least")
        if value[1] < least:
            yield NOISE, value[1]
        else:
            yield f"{value[0]} {value[1]}"
            ctx.timer_service().register_event_time_timer(100)

    def process_broadcast_element(self, value, ctx):
        rules = ctx.get_broadcast_state(RULES)
        yield AUDIT, f"{value[0]} was {rules.get(value[0])}, is {value[1]}"
        rules.put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        yield AUDIT, f"timer of {ctx.get_current_key()}"
        yield f"end of {ctx.get_current_key()}"


def slow(value):
    if value[0] == "a":
        time.sleep(2)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.INT()])
data = env.from_collection([("a", 5), ("b", 1), ("c", 9), ("b", 3)], type_info=pair).map(slow, output_type=pair)
rules = env.from_collection([("least", 2), ("least", 4)], type_info=pair)
main = (
    data.key_by(lambda value: value[0], key_type=Types.STRING())
    .connect(rules.broadcast(RULES))
    .process(Split(), output_type=Types.STRING())
)
main.print()
main.get_side_output(AUDIT).map(lambda text: "audit: " + text, output_type=Types.STRING()).print()
main.get_side_output(NOISE).map(lambda number: f"noise: {number}", output_type=Types.STRING()).print()
env.execute()
