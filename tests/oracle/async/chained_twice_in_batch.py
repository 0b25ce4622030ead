"""Two async operators in a row, then a keyed aggregate, in BATCH."""

from __future__ import annotations

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, RuntimeExecutionMode, StreamExecutionEnvironment


class Add(AsyncFunction):
    def __init__(self, n):
        self.n = n

    async def async_invoke(self, value):
        await asyncio.sleep(0.01)
        return [value + self.n, value + 2 * self.n]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
ds = env.from_collection(list(range(20)), type_info=Types.INT())
first = AsyncDataStream.ordered_wait(ds, Add(1), Time.seconds(20), 7, Types.INT())
second = AsyncDataStream.unordered_wait(first, Add(100), Time.seconds(20), 7, Types.INT())
second.map(lambda v: (v % 3, v), output_type=Types.TUPLE([Types.INT(), Types.INT()])).key_by(
    lambda v: v[0], key_type=Types.INT()
).reduce(lambda a, b: (a[0], a[1] + b[1])).print()
env.execute()
