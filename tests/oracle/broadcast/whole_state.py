"""Everything a broadcast state can do: put, put by index, contains, items, keys, values, remove, del, clear, is_empty."""
# parallelism: 1
# compare: ordered
import time

from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

STATE = MapStateDescriptor("state", Types.STRING(), Types.INT())


class Everything(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        state = ctx.get_broadcast_state(STATE)
        yield "reads %s %s %s %s %s" % (sorted(state.items()), sorted(state), state.is_empty(), "a" in state, state["a"])

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
        yield "%s %s: %s -> %s, keys %s, values %s, empty %s, has %s" % (
            what, key, before, sorted(state.items()), sorted(state.keys()), sorted(state.values()), state.is_empty(),
            state.contains(key))


def slow(value):
    time.sleep(2)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
data = env.from_collection([1], type_info=Types.INT()).map(slow, output_type=Types.INT())
changes = [("none", "a", 0), ("put", "a", 1), ("put", "b", 2), ("set", "c", 3), ("put", "a", 4), ("remove", "b", 0),
           ("remove", "x", 0), ("del", "c", 0), ("clear", "", 0), ("put", "z", 26)]
broadcast = env.from_collection(changes, type_info=Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()]))
data.connect(broadcast.broadcast(STATE)).process(Everything(), output_type=Types.STRING()).print()
env.execute()
