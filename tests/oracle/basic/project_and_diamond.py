"""project picks fields; a stream that forks and comes together again keeps every record once per way."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
t = Types.TUPLE([Types.INT(), Types.STRING(), Types.DOUBLE()])
data = env.from_collection([(1, "a", 0.5), (2, "b", 1.5)], type_info=t)
data.project(1).print("one")
data.project(2, 0).print("two")
numbers = data.map(lambda v: v[0], output_type=Types.INT())
left = numbers.key_by(lambda v: v % 2, key_type=Types.INT()).reduce(max)
right = numbers.filter(lambda v: v > 1).rebalance().map(lambda v: v * 10, output_type=Types.INT())
joined = left.union(right, numbers)
joined.print("joined")
joined.key_by(lambda v: v, key_type=Types.INT()).reduce(lambda a, b: a + b).filter(lambda v: v in (2, 4, 20)).print(
    "again"
)
env.execute()
