"""unordered_wait emits results in the order in which calls end."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Lookup(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(2.5 - value * 0.6)
        return [value]


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
AsyncDataStream.unordered_wait(ds, Lookup(), Time.seconds(20), 4, Types.INT()).print()
env.execute()
