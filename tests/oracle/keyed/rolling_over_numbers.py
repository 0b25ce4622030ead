"""Aggregations over plain numbers and a chain of reduces."""

# compare: per-key
# parallelism: 1
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import ReduceFunction, StreamExecutionEnvironment


class Larger(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 if value1 > value2 else value2


env = StreamExecutionEnvironment.get_execution_environment()
keyed = env.from_collection([5, 2, 8, 1, 9, 4], type_info=Types.INT()).key_by(lambda v: v % 2, key_type=Types.INT())
keyed.sum().print("sum")
keyed.min().print("min")
keyed.max().print("max")
keyed.reduce(Larger()).key_by(lambda v: 0, key_type=Types.INT()).reduce(lambda a, b: a + b).print("chain")
env.execute()
