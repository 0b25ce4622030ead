"""Every result of a ReduceFunction with state of its own."""

# compare: per-key
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import ReduceFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Calls(ReduceFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def reduce(self, value1, value2):
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value2[1])
        return value1[0], value1[1] + value2[1], f"{self.count.value()} {list(self.seen.get())}"


env = StreamExecutionEnvironment.get_execution_environment()
t = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
records = [(key, number, "") for number in range(1, 5) for key in ("a", "b", "c")][:-1]
env.from_collection(records, type_info=t).key_by(lambda v: v[0], key_type=Types.STRING()).reduce(Calls()).print()
env.execute()
