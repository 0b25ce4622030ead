"""Streams of rows may be united whose fields have the same types but other names: the first stream's names count."""

# modes: streaming batch
# timeout: 400
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
first = env.from_collection([Row("a", 1)], type_info=Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()]))
second = env.from_collection([Row("b", 2)], type_info=Types.ROW_NAMED(["v", "k"], [Types.STRING(), Types.INT()]))
third = env.from_collection([Row("c", 3)], type_info=Types.ROW([Types.STRING(), Types.INT()]))
union = first.union(second, third)
print(union.get_type())
union.print("row")
union.map(lambda row: "%s %d" % (row.k, row.v), output_type=Types.STRING()).print("by name")
union.key_by(lambda row: row.k).map(lambda row: row["v"] * 10, output_type=Types.INT()).print("keyed")
env.execute()
