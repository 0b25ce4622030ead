"""Functions as lambdas, classes, bound methods, generators and lists; what counts as true in a filter."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import FilterFunction, FlatMapFunction, MapFunction, StreamExecutionEnvironment


class AddTo(MapFunction):
    def __init__(self, number):
        self.number = number

    def open(self, runtime_context):
        self.opened = 100

    def map(self, value):
        return value + self.number + self.opened

    def doubled(self, value):
        return value * 2


class Even(FilterFunction):
    def filter(self, value):
        return value % 2 == 0


class Twice(FlatMapFunction):
    def flat_map(self, value):
        yield value
        yield -value


env = StreamExecutionEnvironment.get_execution_environment()
t = Types.INT()
numbers = env.from_collection([1, 2, 3, 4], type_info=t)
numbers.map(AddTo(1000), output_type=t).print("map")
numbers.map(AddTo(0).doubled, output_type=t).print("method")
numbers.filter(Even()).flat_map(Twice(), output_type=t).print("filter")
numbers.filter(lambda v: v - 1).print("truth")
numbers.flat_map(lambda v: range(v - 2), output_type=t).print("range")
numbers.flat_map(lambda v: [] if v > 2 else [v], output_type=t).print("none")
numbers.flat_map(lambda v: (n for n in (v, 10 * v) if n > 3), output_type=t).print("generator")
env.execute()
