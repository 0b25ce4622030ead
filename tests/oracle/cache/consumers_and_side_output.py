"""A cached stream with several consumers; a cached side output."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment

odd = OutputTag("odd", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2:
            yield odd, value
        else:
            yield value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
split = env.from_collection([1, 2, 3, 4, 5], type_info=Types.INT()).process(Split(), Types.INT())
even, rest = split.cache(), split.get_side_output(odd).cache()
even.print("even")
even.map(lambda v: v * 10, output_type=Types.INT()).print("ten")
rest.print("odd")
env.execute()
even.union(rest).key_by(lambda v: v % 2, key_type=Types.INT()).reduce(lambda a, b: a + b).print("sum")
env.execute()
