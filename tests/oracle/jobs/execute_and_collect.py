"""execute_and_collect gives Python values of the declared types, with a limit a list; iterators can be closed."""

from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
t = Types.ROW_NAMED(["n", "s"], [Types.INT(), Types.STRING()])
with env.from_collection([Row(1, "a"), Row(2, None)], type_info=t).execute_and_collect() as results:
    for row in sorted(results, key=lambda r: r[0]):
        print(row[0], row[1], type(row).__name__)
eight = env.from_collection([7], type_info=Types.LONG()).map(lambda v: v + 1, output_type=Types.LONG())
print(eight.execute_and_collect(limit=3))
print(sorted(env.from_collection([5, 6, 7], type_info=Types.INT()).execute_and_collect("named job", 10)))
print(len(env.from_collection([5, 6, 7], type_info=Types.INT()).execute_and_collect(limit=2)))
numbers = env.from_collection([1, 2, 3], type_info=Types.INT()).execute_and_collect()
print(next(numbers) in (1, 2, 3))
numbers.close()
t = Types.TUPLE([Types.INT(), Types.DOUBLE()])
print(
    env.from_collection([(1, 2.5)], type_info=t).execute_and_collect(limit=1),
    env.from_collection([{"a": 1}]).execute_and_collect(limit=1),
)
