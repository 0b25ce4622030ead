"""Collections of all kinds of Python values, with and without a type."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2.5, "x", None, (1, [2]), {"a": 1}]).map(lambda v: type(v).__name__).print("untyped")
env.from_collection([], type_info=Types.INT()).print("empty")
env.from_collection(((1, "a"), (2, "b")), type_info=Types.ROW([Types.INT(), Types.STRING()])).print("tuples as rows")
named = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
env.from_collection([Row(a=1, b="x")], type_info=named).print("row")
env.from_collection([[1, "l"]], type_info=Types.TUPLE([Types.INT(), Types.STRING()])).print("list as tuple")
env.execute()
