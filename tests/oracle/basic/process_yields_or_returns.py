"""process_element as a generator, returning a list or nothing; timestamps without a strategy."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment


class Yields(ProcessFunction):
    def process_element(self, value, ctx):
        if value > 1:
            yield value
            yield value * 10


class Returns(ProcessFunction):
    def process_element(self, value, ctx):
        return [value, ctx.timestamp()] if value == 2 else None


env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection([1, 2, 3], type_info=Types.LONG())
numbers.process(Yields(), output_type=Types.LONG()).print("yields")
numbers.process(Returns(), output_type=Types.LONG()).print("returns")
env.execute()
