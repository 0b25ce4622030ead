"""A declared type converts: whole numbers for doubles, digits beyond a float's, rows and tuples for each other."""
# parallelism: 1
# timeout: 240
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = [
    ("double", Types.DOUBLE(), 1),
    ("float", Types.FLOAT(), 16777217.0),
    ("bool for int", Types.INT(), True),
    ("tuple for row", Types.ROW([Types.INT(), Types.STRING()]), (1, "x")),
    ("row for tuple", Types.TUPLE([Types.INT(), Types.STRING()]), Row(1, "x")),
    ("tuple for list", Types.LIST(Types.INT()), (1, 2)),
]
for name, t, value in CASES:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1], type_info=Types.INT()).map(lambda v, value=value: value, output_type=t).print(name)
    try:
        env.execute()
        print(name, "finished")
    except Exception:
        print(name, "failed")
