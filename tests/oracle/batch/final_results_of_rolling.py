"""BATCH: reduce and the rolling aggregations emit one result per key, at its end."""

from __future__ import annotations

from pyflink.common import Configuration, Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

configuration = Configuration()
configuration.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
keyed = env.from_collection([("a", 3), ("b", 1), ("a", 5), ("a", 4)], type_info=pair).key_by(
    lambda v: v[0], key_type=Types.STRING()
)
keyed.reduce(lambda a, b: (a[0], a[1] * b[1])).print("reduce")
keyed.sum(1).print("sum")
keyed.max_by(1).print("max_by")
env.execute()
