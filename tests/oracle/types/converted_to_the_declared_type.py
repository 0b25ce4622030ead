"""A declared type converts: whole numbers for doubles, truth for numbers, and digits beyond a float's."""

# parallelism: 1
# timeout: 240
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = [
    ("double", Types.DOUBLE(), 1),
    ("float", Types.FLOAT(), 16777217.0),
    ("bool for int", Types.INT(), True),
]
for name, t, value in CASES:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1], type_info=Types.INT()).map(lambda v, value=value: value, output_type=t).print(name)
    try:
        env.execute()
        print(name, "finished")
    except Exception:
        print(name, "failed")
