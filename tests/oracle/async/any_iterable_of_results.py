"""A call may return any iterable: a list, a tuple, a generator, nothing at all."""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Results(AsyncFunction):
    async def async_invoke(self, value):
        return [[], (value, value), (value + i / 10 for i in range(3)), {value: "x"}][value]


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([0, 1, 2, 3], type_info=Types.INT())
AsyncDataStream.ordered_wait(ds, Results(), Time.seconds(20), 10, Types.DOUBLE()).print()
env.execute()
