"""List state: add, add_all, update replaces, update with nothing empties; iterating gives a stable copy."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Lists(KeyedProcessFunction):
    def open(self, runtime_context):
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))

    def process_element(self, value, ctx):
        name, number = value
        if name == "add":
            self.list.add(number)
        elif name == "add_all":
            self.list.add_all([number, number + 1])
        else:
            self.list.update([number] if number else [])
        yield "%s %d: %s %s" % (name, number, list(self.list.get()), [v * 10 for v in self.list])


env = StreamExecutionEnvironment.get_execution_environment()
data = [("add", 1), ("add", 2), ("add_all", 5), ("update", 9), ("add", 3), ("update", 0), ("add", 7)]
env.from_collection(data, type_info=Types.TUPLE([Types.STRING(), Types.INT()])).key_by(
    lambda v: 0, key_type=Types.INT()
).process(Lists(), output_type=Types.STRING()).print()
env.execute()
