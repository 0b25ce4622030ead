"""Maps with keys and values of several types; what a function puts in arrives."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
t = Types.MAP(Types.INT(), Types.STRING())
stream = env.from_collection([{1: "one"}, {}, {2: "two"}], type_info=t)
stream.print("in")
stream.map(lambda m: {**m, 0: "zero"}, output_type=t).map(
    lambda m: str(sorted(m.items())), output_type=Types.STRING()
).print("out")
rows = Types.MAP(Types.STRING(), Types.ROW([Types.INT()]))
stream.map(lambda m: {v: Row(k) for k, v in m.items()}, output_type=rows).map(
    lambda m: str([(k, r[0]) for k, r in m.items()]), output_type=Types.STRING()
).print("rows")
env.execute()
