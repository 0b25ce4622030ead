"""open() before the first call, one function object for all calls, and never more calls in flight than the capacity."""

# parallelism: 1
from __future__ import annotations

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Counting(AsyncFunction):
    def open(self, ctx):
        self.now = self.most = 0

    async def async_invoke(self, value):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.3)
        self.now -= 1
        return [self.most] if value == 29 else []


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection(list(range(30)), type_info=Types.INT())
AsyncDataStream.ordered_wait(ds, Counting(), Time.seconds(20), 6, Types.INT()).print()
env.execute()
