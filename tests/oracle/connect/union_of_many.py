"""Unions of several streams, of a stream with itself and of results keep every record, types and timestamps."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
a = env.from_collection([1, 2], type_info=Types.INT())
b = env.from_collection([3], type_info=Types.INT())
c = b.map(lambda v: v * 10, output_type=Types.INT())
a.union(b, c).print("three")
a.union(a).union(a, b).print("itself")
sums = a.union(b).key_by(lambda v: v % 2, key_type=Types.INT()).reduce(max)
sums.union(c).filter(lambda v: v > 3).print("results")
a.union(b).connect(c.union(c)).flat_map(
    type(
        "Both",
        (CoFlatMapFunction,),
        {"flat_map1": lambda self, v: ["left %d" % v], "flat_map2": lambda self, v: ["right %d" % v]},
    )(),
    output_type=Types.STRING(),
).print("connected")
env.execute()
