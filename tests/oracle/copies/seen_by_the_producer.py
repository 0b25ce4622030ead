"""A record that a chained function changes in place, while the function that emitted it still holds it."""

# parallelism: 1
# modes: streaming batch
# timeout: 400
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
S = Types.STRING()


def show(name, stream):
    stream.map(lambda value: f"{name}: {value}", output_type=S).print()


def numbers(*values):
    return env.from_collection(list(values), type_info=Types.INT())


def growing_list(n):
    seen = []
    for i in range(n):
        seen.append(i)
        yield seen


def plus(item):
    return lambda values: (values.append(item), values)[1]


class Default(MapFunction):
    def open(self, context):
        self.none = []

    def map(self, value):
        return self.none


class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        count = self.count.value() or {"n": 0}
        count["n"] += value
        self.count.update(count)
        yield count


def ten_times(value):
    value["n"] *= 10
    return value


show("generator", numbers(3).flat_map(growing_list).map(plus(9)))
show("default", numbers(1, 2).map(Default()).map(plus(9)))
show("twice", numbers(1).flat_map(lambda n: [[n]] * 2).map(plus(9)))
show("filter", numbers(3).flat_map(growing_list).filter(lambda values: values.append(9) is None))
show("state", numbers(1, 2, 3).key_by(lambda n: 0).process(Count()).map(ten_times))
show("branches", numbers(3).flat_map(growing_list).map(lambda values: values).map(plus(7)))
env.execute()
