"""State of rows, tuples, lists, maps, dates and pickled objects gives back what was put in."""

from __future__ import annotations

import datetime
from decimal import Decimal

from pyflink.common import Row, Types
from pyflink.datastream import (
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    ValueStateDescriptor,
)

TYPES = {
    "row": Types.ROW_NAMED(["n", "s"], [Types.INT(), Types.STRING()]),
    "tuple": Types.TUPLE([Types.INT(), Types.DOUBLE()]),
    "list": Types.LIST(Types.STRING()),
    "map": Types.MAP(Types.STRING(), Types.INT()),
    "date": Types.SQL_DATE(),
    "timestamp": Types.SQL_TIMESTAMP(),
    "decimal": Types.BIG_DEC(),
    "bytes": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "pickled": Types.PICKLED_BYTE_ARRAY(),
}
VALUES = {
    "row": Row(n=1, s="x"),
    "tuple": (1, 2.5),
    "list": ["a", "b"],
    "map": {"k": 1},
    "date": datetime.date(2020, 2, 29),
    "timestamp": datetime.datetime(2020, 1, 2, 3, 4, 5, 678000),
    "decimal": Decimal("1.50"),
    "bytes": b"\x00\x01",
    "pickled": {1: {2, 3}},
}


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        self.states = {name: runtime_context.get_state(ValueStateDescriptor(name, t)) for name, t in TYPES.items()}

    def process_element(self, value, ctx):
        if value == 1:
            for name, state in self.states.items():
                state.update(VALUES[name])
        else:
            for name, state in self.states.items():
                yield "%s %r %s" % (name, state.value(), type(state.value()).__name__)


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2], type_info=Types.INT()).key_by(lambda v: 0, key_type=Types.INT()).process(
    Keep(), output_type=Types.STRING()
).print()
env.execute()
