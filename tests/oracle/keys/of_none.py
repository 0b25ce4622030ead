"""None is a key of every type."""

# timeout: 240
# compare: last-per-key
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import (
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    ListStateDescriptor,
)

KEYS = {
    "int": (Types.INT(), 5),
    "string": (Types.STRING(), "k"),
    "bool": (Types.BOOLEAN(), True),
    "double": (Types.DOUBLE(), 0.5),
    "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "x")),
    "pickled": (None, ("deep", 1)),
}


class Count(KeyedProcessFunction):
    def __init__(self, name):
        self.name = name

    def open(self, runtime_context):
        self.numbers = runtime_context.get_list_state(ListStateDescriptor("numbers", Types.INT()))

    def process_element(self, value, ctx):
        self.numbers.add(value)
        if value >= 6:
            yield "%s%d %r %s" % (self.name, value, ctx.get_current_key(), sum(self.numbers.get()))


def key_or_none(key):
    return lambda n: key if n % 2 else None


env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection(list(range(8)), type_info=Types.INT())
for name, (key_type, key) in KEYS.items():
    selected = numbers.key_by(key_or_none(key), key_type=key_type)
    selected.process(Count(name), output_type=Types.STRING()).print()
env.execute()
