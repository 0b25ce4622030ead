"""AUTOMATIC takes BATCH for bounded sources, which a reduce shows."""

from __future__ import annotations

from pyflink.common import Configuration, Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

configuration = Configuration()
configuration.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_runtime_mode(RuntimeExecutionMode.AUTOMATIC)
env.from_collection([1, 2, 3], type_info=Types.INT()).key_by(lambda v: 0, key_type=Types.INT()).reduce(
    lambda a, b: a + b
).print()
env.execute()
