"""Values that are not of the declared type fail the job."""

# parallelism: 1
# timeout: 240
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = [
    ("text for int", Types.INT(), "x"),
    ("none for tuple field", Types.TUPLE([Types.INT(), Types.STRING()]), (None, "x")),
    ("int for string", Types.STRING(), 7),
    ("scalar for tuple", Types.TUPLE([Types.INT()]), 5),
    ("none for string", Types.STRING(), None),
    ("too big for int", Types.INT(), 2**31),
    ("too big for long", Types.LONG(), 2**63),
]
for name, t, value in CASES:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1], type_info=Types.INT()).map(lambda v, value=value: value, output_type=t).print()
    try:
        env.execute()
        print(name, "finished")
    except Exception:
        print(name, "failed")
