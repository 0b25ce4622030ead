"""sum, min, max, min_by and max_by over a field: which record's other fields come out, ties and strings included."""

# timeout: 240
# compare: per-key
# key: ^([\w-]+> \(\w+)
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
t = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING(), Types.DOUBLE()])
data = [
    ("a", 3, "r", 1.5),
    ("b", 1, "s", 0.5),
    ("a", 1, "t", -2.0),
    ("a", 3, "u", 1.5),
    ("b", 5, "q", 0.25),
    ("a", 1, "v", 9.0),
]
keyed = env.from_collection(data, type_info=t).key_by(lambda v: v[0], key_type=Types.STRING())
keyed.sum(1).print("sum-1")
keyed.sum(3).print("sum-3")
keyed.min(1).print("min-1")
keyed.max(1).print("max-1")
keyed.max(2).print("max-2")
keyed.min_by(1).print("min_by-1")
keyed.max_by(1).print("max_by-1")
keyed.min_by(3).print("min_by-3")
keyed.max_by(2).print("max_by-2")
env.execute()
