"""Rules as rows and lists: what is read has the declared type, whatever container was put."""

# modes: streaming batch
from __future__ import annotations

import time

from pyflink.common import Row, Types
from pyflink.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

RULE = Types.ROW_NAMED(["name", "least", "tags"], [Types.STRING(), Types.LONG(), Types.LIST(Types.STRING())])
RULES = MapStateDescriptor("rules", Types.INT(), RULE)


class Apply(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        for number, rule in sorted(ctx.get_broadcast_state(RULES).items()):
            if value >= rule.least:
                yield "{}: rule {} {} {} {}".format(value, number, rule.name, rule.tags, rule["least"])

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], Row(name=value[1], least=value[2], tags=value[1].split("-")))


def slow(value):
    if value == 5:
        time.sleep(3)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
data = env.from_collection([5, 15, 25], type_info=Types.INT()).map(slow, output_type=Types.INT()).set_parallelism(1)
rules = env.from_collection(
    [(1, "more-than-ten", 10), (2, "any", 0), (1, "twenty-at-least", 20)],
    type_info=Types.TUPLE([Types.INT(), Types.STRING(), Types.INT()]),
)
data.connect(rules.broadcast(RULES)).process(Apply(), output_type=Types.STRING()).print()
env.execute()
