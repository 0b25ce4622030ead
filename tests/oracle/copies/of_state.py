"""Values of state that are emitted and then changed, changed without an update, or changed after they were stored."""

# parallelism: 1
# timeout: 400
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, ReduceFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
S = Types.STRING()


def show(name, stream):
    stream.map(lambda value: f"{name}: {value}", output_type=S).print()


def by_key(*values):
    return env.from_collection(list(values)).key_by(lambda value: 0)


class Buffer(KeyedProcessFunction):
    def open(self, context):
        self.buffer = context.get_state(ValueStateDescriptor("buffer", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        buffer = self.buffer.value() or []
        buffer.append(value)
        if len(buffer) == 2:
            yield buffer
            buffer.clear()
        self.buffer.update(buffer)


class Running(KeyedProcessFunction):
    def open(self, context):
        self.total = context.get_state(ValueStateDescriptor("total", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        total = self.total.value() or {"n": 0}
        total["n"] += value
        self.total.update(total)
        yield total


class ElementsChanged(KeyedProcessFunction):
    def open(self, context):
        self.values = context.get_list_state(ListStateDescriptor("values", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        self.values.add(value)
        value["added"] = True
        yield from self.values.get()
        for each in self.values.get():
            each["n"] += 100


class MapsChanged(KeyedProcessFunction):
    def open(self, context):
        self.values = context.get_map_state(MapStateDescriptor("values", Types.STRING(), Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        seen = self.values.get("seen") or []
        seen.append(value)
        self.values.put("seen", seen)
        yield seen
        seen.append("after")


class Add(ReduceFunction):
    def reduce(self, a, b):
        a["n"] += b["n"]
        return a


class Collect(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value["n"])
        return accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Folded(KeyedProcessFunction):
    def open(self, context):
        self.sum = context.get_reducing_state(ReducingStateDescriptor("sum", Add(), Types.PICKLED_BYTE_ARRAY()))
        self.all = context.get_aggregating_state(
            AggregatingStateDescriptor("all", Collect(), Types.PICKLED_BYTE_ARRAY())
        )

    def process_element(self, value, ctx):
        self.all.add(value)
        self.sum.add(value)
        yield self.sum.get()
        yield self.all.get()


class OnTimer(KeyedProcessFunction):
    def open(self, context):
        self.values = context.get_state(ValueStateDescriptor("values", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        self.values.update([*(self.values.value() or []), value])
        ctx.timer_service().register_event_time_timer(1)

    def on_timer(self, timestamp, ctx):
        values = self.values.value()
        yield values
        values.clear()
        yield values


def add(a, b):
    a["n"] += b["n"]
    return a


show("buffer", by_key(1, 2, 3, 4).process(Buffer()))
show("running", by_key(1, 2, 3).process(Running()))
show("elements", by_key({"n": 1}, {"n": 2}).process(ElementsChanged()))
show("maps", by_key(1, 2).process(MapsChanged()))
show("folded", by_key({"n": 1}, {"n": 2}, {"n": 3}).process(Folded()))
show("timer", by_key(1, 2).process(OnTimer()))
show("reduce", by_key({"n": 1}, {"n": 2}, {"n": 3}).reduce(add))
stream = env.from_collection([{"n": 1}, {"n": 2}, {"n": 3}])
show("raw", stream.map(lambda value: value))
show("beside raw", stream.key_by(lambda value: 0).reduce(add))
stream = by_key({"n": 1}, {"n": 2}).reduce(add)
show("changed sum", stream.map(lambda value: value.update(n=-value["n"]) or value))
show("sum", stream)
env.execute()
