"""The same aggregations over rows, by field name and by position."""

# timeout: 240
# compare: per-key
# key: ^([\w-]+> \+I\[\w+)
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
t = Types.ROW_NAMED(["k", "n", "s"], [Types.STRING(), Types.LONG(), Types.STRING()])
rows = [Row("a", 3, "r"), Row("b", 1, "s"), Row("a", 1, "t"), Row("a", 7, "u"), Row("b", 1, "v")]
keyed = env.from_collection(rows, type_info=t).key_by(lambda r: r.k, key_type=Types.STRING())
keyed.sum("n").print("sum")
keyed.min("n").print("min")
keyed.max(1).print("max")
keyed.min_by("n").print("min_by")
keyed.max_by("s").print("max_by")
keyed.reduce(lambda a, b: Row(k=a.k, n=a.n - b.n, s=a.s + b.s)).print("reduce")
env.execute()
