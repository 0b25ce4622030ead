"""Values of state that are changed in place without an update, or after it."""

# parallelism: 1
# timeout: 400
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
S = Types.STRING()


def show(name, stream):
    stream.map(lambda value: f"{name}: {value}", output_type=S).print()


class Changed(KeyedProcessFunction):
    def open(self, context):
        self.value = context.get_state(ValueStateDescriptor("value", Types.PICKLED_BYTE_ARRAY()))
        self.map = context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.PICKLED_BYTE_ARRAY()))
        self.list = context.get_list_state(ListStateDescriptor("list", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        if self.value.value() is None:
            self.value.update([])
            self.map.put("a", [])
            self.list.add([])
        self.value.value().append(value)
        self.map.get("a").append(value)
        for each in self.list.get():
            each.append(value)
        yield f"{self.value.value()} {self.map.get('a')} {list(self.list.get())}"


class AfterUpdate(KeyedProcessFunction):
    def open(self, context):
        self.value = context.get_state(ValueStateDescriptor("value", Types.PICKLED_BYTE_ARRAY()))
        self.map = context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.PICKLED_BYTE_ARRAY()))
        self.list = context.get_list_state(ListStateDescriptor("list", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        yield f"{self.value.value()} {self.map.get('a')} {list(self.list.get())}"
        self.value.update(value)
        self.map.put("a", value)
        self.list.add(value)
        value.append("after")


show("changed", env.from_collection([1, 2, 3]).key_by(lambda value: 0).process(Changed()))
show("after", env.from_collection([[1], [2], [3]]).key_by(lambda value: 0).process(AfterUpdate()))
env.execute()
