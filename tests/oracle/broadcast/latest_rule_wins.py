"""Broadcast state without keys: a rule may be replaced and removed; records read what is there when they come."""

from __future__ import annotations

import time

from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

PRICES = MapStateDescriptor("prices", Types.STRING(), Types.INT())


class Price(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        prices = ctx.get_broadcast_state(PRICES)
        if value[0] in prices:
            yield f"{value[0]} costs {prices.get(value[0]) * value[1]}"
        else:
            yield f"no price for {value[0]}, but for {sorted(prices.keys())}"

    def process_broadcast_element(self, value, ctx):
        prices = ctx.get_broadcast_state(PRICES)
        if value[1] == 0:
            prices.remove(value[0])
        else:
            prices.put(value[0], value[1])


def slow(value):
    if value[0] == "tea":
        time.sleep(3)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.INT()])
orders = (
    env.from_collection([("tea", 2), ("milk", 1), ("cake", 3)], type_info=pair)
    .map(slow, output_type=pair)
    .set_parallelism(1)
)
prices = env.from_collection([("tea", 5), ("milk", 2), ("cake", 7), ("tea", 4), ("milk", 0)], type_info=pair)
orders.connect(prices.broadcast(PRICES)).process(Price(), output_type=Types.STRING()).print()
env.execute()
