"""Results of functions of two inputs, of broadcast functions and of asynchronous functions that change afterwards."""

# parallelism: 1
# timeout: 400
from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import (
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
S = Types.STRING()


def show(name, stream):
    stream.map(lambda value: f"{name}: {value}", output_type=S).print()


def numbers(*values):
    return env.from_collection(list(values), type_info=Types.INT())


def nothing():
    return numbers(0).filter(lambda value: value)


class Process(CoProcessFunction):
    def open(self, context):
        self.seen = []

    def process_element1(self, value, ctx):
        self.seen.append(value)
        yield self.seen
        self.seen.append("after")

    def process_element2(self, value, ctx):
        yield value


class Map(CoMapFunction):
    def open(self, context):
        self.seen = []

    def map1(self, value):
        self.seen.append(value)
        return self.seen

    def map2(self, value):
        return value


class FlatMap(CoFlatMapFunction):
    def flat_map1(self, value):
        seen = []
        for i in range(value):
            seen.append(i)
            yield seen

    def flat_map2(self, value):
        yield value


class Keyed(KeyedCoProcessFunction):
    def open(self, context):
        self.values = context.get_list_state(ListStateDescriptor("values", Types.PICKLED_BYTE_ARRAY()))

    def process_element1(self, value, ctx):
        self.values.add(value)
        value["seen"] = True
        yield list(self.values.get())
        value["n"] = 0

    def process_element2(self, value, ctx):
        yield value


def rules():
    return MapStateDescriptor("rules", Types.STRING(), Types.PICKLED_BYTE_ARRAY())


class Rules(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(rules())
        known = state.get("all") or []
        known.append(value)
        state.put("all", known)
        yield known


class Lookup(AsyncFunction):
    def __init__(self):
        self.seen = []

    async def async_invoke(self, value):
        self.seen.append(value)
        return [self.seen]

    def timeout(self, value):
        return []


show("process", numbers(1, 2).connect(nothing()).process(Process()))
show("map", numbers(1, 2).connect(nothing()).map(Map()))
show("flat map", numbers(2).connect(nothing()).flat_map(FlatMap()))
dicts = env.from_collection([{"n": 1}, {"n": 2}])
show("keyed", dicts.connect(nothing()).key_by(lambda value: 0, lambda value: 0).process(Keyed()))
show("broadcast", nothing().connect(numbers(1, 2).broadcast(rules())).process(Rules()))
show("async", AsyncDataStream.ordered_wait(numbers(1, 2), Lookup(), Time.seconds(60), 1))
stream = env.from_collection([[1], [2]]).map(lambda values: values)
show("branch", AsyncDataStream.ordered_wait(stream, Lookup(), Time.seconds(60), 1).map(len))
show("beside", stream)
env.execute()
