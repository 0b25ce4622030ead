"""execute() runs what was built since the last one; the environment stays usable after a failure."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1], type_info=Types.INT()).print("first")
env.execute("one")
env.from_collection([2], type_info=Types.INT()).map(lambda v: v // 0, output_type=Types.INT()).print("second")
try:
    env.execute("two")
    print("finished")
except Exception:
    print("failed")
env.from_collection([3], type_info=Types.INT()).print("third")
env.execute("three")
try:
    env.execute("nothing")
    print("finished")
except Exception:
    print("nothing to execute")
