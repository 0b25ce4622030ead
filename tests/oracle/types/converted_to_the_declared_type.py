"""A declared type converts: numbers for doubles, any digits for floats, and lists for tuples."""
# parallelism: 1
# timeout: 240
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
one = env.from_collection([1], type_info=Types.INT())
one.map(lambda v: 1, output_type=Types.DOUBLE()).print("double")
one.map(lambda v: 16777217.0, output_type=Types.FLOAT()).print("float")
one.map(lambda v: True, output_type=Types.INT()).print("bool for int")
one.map(lambda v: [v, "x"], output_type=Types.TUPLE([Types.INT(), Types.STRING()])).print("list for tuple")
one.map(lambda v: (v, "x"), output_type=Types.ROW([Types.INT(), Types.STRING()])).print("tuple for row")
one.map(lambda v: Row(v, "x"), output_type=Types.TUPLE([Types.INT(), Types.STRING()])).print("row for tuple")
one.map(lambda v: (1, 2), output_type=Types.LIST(Types.INT())).print("tuple for list")
env.execute()
