"""Rows alone, in tuples, lists, maps and rows, declared and not, as they are printed."""

from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import (
    StreamExecutionEnvironment,
)

env = StreamExecutionEnvironment.get_execution_environment()
data = [Row(1, "a", 1.5, None), Row(2, None, float("inf"), [1, 2])]
t = Types.ROW_NAMED(["i", "s", "f", "l"], [Types.INT(), Types.STRING(), Types.DOUBLE(), Types.LIST(Types.INT())])
ds = env.from_collection(data, type_info=t)
ds.print("rows")
ds.map(lambda r: (r.i, r), output_type=Types.TUPLE([Types.INT(), t])).print()
ds.map(lambda r: [r, r], output_type=Types.LIST(t)).print()
ds.map(lambda r: {r.i: r}, output_type=Types.MAP(Types.INT(), t)).print()
ds.map(lambda r: r).print()
ds.map(lambda r: (r, r.i)).print()
ds.map(lambda r: str(r.get_row_kind()) + " " + str(r), output_type=Types.STRING()).print()
ds.map(lambda r: Row(x=r, y=r.i), output_type=Types.ROW_NAMED(["x", "y"], [t, Types.INT()])).print()
env.execute()
