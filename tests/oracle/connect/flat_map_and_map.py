"""co_map gives one value per record and none for None; co_flat_map any number; both see their own input's type."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, CoMapFunction, StreamExecutionEnvironment


class Describe(CoMapFunction):
    def map1(self, value):
        return "number %d" % (value + 1)

    def map2(self, value):
        return "text %s" % value.upper() if value != "skip" else None


class Expand(CoFlatMapFunction):
    def flat_map1(self, value):
        for n in range(value):
            yield "%d.%d" % (value, n)

    def flat_map2(self, value):
        return value.split() or None


env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection([0, 1, 3], type_info=Types.INT())
texts = env.from_collection(["x", "skip", "y z", " "], type_info=Types.STRING())
numbers.connect(texts).map(Describe(), output_type=Types.STRING()).print("map")
numbers.connect(texts).flat_map(Expand(), output_type=Types.STRING()).print("flat_map")
env.execute()
