"""Arrays of primitives, of boxed values and of objects: what functions get, what comes out."""

# parallelism: 1
# timeout: 240
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = [
    ("ints", Types.PRIMITIVE_ARRAY(Types.INT()), [1, 2, 3]),
    ("doubles", Types.PRIMITIVE_ARRAY(Types.DOUBLE()), [0.5, 2.0]),
    ("longs", Types.BASIC_ARRAY(Types.LONG()), [1, 2**40]),
    ("strings", Types.BASIC_ARRAY(Types.STRING()), ["a", "b"]),
    ("tuples", Types.OBJECT_ARRAY(Types.TUPLE([Types.INT(), Types.STRING()])), [(1, "x"), (2, "y")]),
]
env = StreamExecutionEnvironment.get_execution_environment()
for name, t, value in CASES:
    env.from_collection([0], type_info=Types.INT()).map(lambda _, value=value: value, output_type=t).map(
        lambda v: "%s %d" % (list(v), len(v)), output_type=Types.STRING()
    ).print(name)
env.from_collection([0], type_info=Types.INT()).map(
    lambda _: b"\x01\xff", output_type=Types.PRIMITIVE_ARRAY(Types.BYTE())
).map(lambda v: "%r %s" % (bytes(v), type(v).__name__), output_type=Types.STRING()).print("bytes")
env.execute()
