"""A timeout of 0 is no timeout."""

from __future__ import annotations

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(1)
        return [value]


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2, 3], type_info=Types.INT())
AsyncDataStream.unordered_wait(ds, Slow(), Time.milliseconds(0), 10, Types.INT()).print()
env.execute()
