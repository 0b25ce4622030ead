"""What streams tell about the types of their records: rows that declare no names have the names f0, f1, ..."""

# compare: ordered
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([(1, "a")], type_info=Types.TUPLE([Types.INT(), Types.STRING()]))
print(ds.get_type())
print(ds.map(lambda x: x).get_type())
print(ds.map(lambda x: x[0], output_type=Types.LONG()).get_type())
print(ds.filter(lambda x: True).get_type())
print(ds.flat_map(lambda x: [x], output_type=Types.ROW([Types.INT()])).get_type())
print(ds.key_by(lambda x: x[1]).sum(0).get_type())
print(ds.key_by(lambda x: x[1]).reduce(lambda a, b: a).get_type())
print(ds.project(1).get_type(), ds.project(1, 0).get_type())
print(ds.union(ds).get_type(), ds.rebalance().get_type())
print(env.from_collection([1, 2]).get_type())
print(env.from_collection([Row(1)], type_info=Types.ROW_NAMED(["x"], [Types.LONG()])).get_type())
print(ds.get_name(), "|", ds.map(lambda x: x).get_name(), "|", ds.filter(lambda x: True).name("my filter").get_name())
