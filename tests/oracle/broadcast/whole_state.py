"""Everything a broadcast state can do: reading, putting, removing, clearing, each also by index where there is one."""

# parallelism: 1
# compare: ordered
from __future__ import annotations

import time

from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

STATE = MapStateDescriptor("state", Types.STRING(), Types.INT())


class Everything(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        state = ctx.get_broadcast_state(STATE)
        yield f"reads {sorted(state.items())} {sorted(state)}"
        yield "reads {} {} {}".format(state.is_empty(), "a" in state, state["a"])

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(STATE)
        before = sorted(state.items())
        what, key, number = value
        if what == "put":
            state.put(key, number)
        elif what == "set":
            state[key] = number
        elif what == "remove":
            state.remove(key)
        elif what == "del":
            del state[key]
        elif what == "clear":
            state.clear()
        yield f"{what} {key}: {before} -> {sorted(state.items())}, has {state.contains(key)}"
        yield f"keys {sorted(state.keys())}, values {sorted(state.values())}, empty {state.is_empty()}"


def slow(value):
    time.sleep(2)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
data = env.from_collection([1], type_info=Types.INT()).map(slow, output_type=Types.INT())
changes = [
    ("none", "a", 0),
    ("put", "a", 1),
    ("put", "b", 2),
    ("set", "c", 3),
    ("put", "a", 4),
    ("remove", "b", 0),
    ("remove", "x", 0),
    ("del", "c", 0),
    ("clear", "", 0),
    ("put", "z", 26),
]
broadcast = env.from_collection(changes, type_info=Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()]))
data.connect(broadcast.broadcast(STATE)).process(Everything(), output_type=Types.STRING()).print()
env.execute()
