"""None in fields of rows, in lists and in values of maps."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
t = Types.ROW_NAMED(
    ["n", "s", "d", "l", "m"],
    [Types.INT(), Types.STRING(), Types.DOUBLE(), Types.LIST(Types.INT()), Types.MAP(Types.STRING(), Types.STRING())],
)
rows = [Row(1, "a", 1.5, [1, 2], {"k": "v"}), Row(None, None, None, None, None)]
stream = env.from_collection(rows, type_info=t)
stream.print("rows")
stream.map(lambda r: Row(r.n, r["s"], r[2], r.l, r.m), output_type=t).print("typed")
stream.map(lambda r: "%s %s %s" % (r.n is None, r.l, r.m), output_type=Types.STRING()).print("inside")
env.execute()
