"""Records meet by equal keys, whatever the type of the key; the key arrives in the function as it was selected."""

# timeout: 240
# compare: last-per-key
# modes: streaming batch
from __future__ import annotations

import datetime
from decimal import Decimal

from pyflink.common import Row, Types
from pyflink.datastream import (
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    ListStateDescriptor,
)

KEYS = {
    "int": (Types.INT(), lambda n: n % 2),
    "string": (Types.STRING(), lambda n: "k%d" % (n % 2)),
    "bool": (Types.BOOLEAN(), lambda n: n % 2 == 0),
    "double": (Types.DOUBLE(), lambda n: n % 2 + 0.5),
    "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), lambda n: (n % 2, "x")),
    "row": (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), lambda n: Row(n % 2, "y")),
    "date": (Types.SQL_DATE(), lambda n: datetime.date(2024, 1, 1 + n % 2)),
    "decimal": (Types.BIG_DEC(), lambda n: Decimal(n % 2)),
    "pickled": (None, lambda n: (n % 2, ("deep", n % 2 == 0))),
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


env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection(list(range(8)), type_info=Types.INT())
for name, (key_type, selector) in KEYS.items():
    numbers.key_by(selector, key_type=key_type).process(Count(name), output_type=Types.STRING()).print()
env.execute()
