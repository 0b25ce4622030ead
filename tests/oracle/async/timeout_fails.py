"""Unless timeout() is overridden, a call that takes too long fails the job and names the record."""

from __future__ import annotations

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(20 if value == 2 else 0)
        return [value]


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2, 3], type_info=Types.INT())
AsyncDataStream.ordered_wait(ds, Slow(), Time.milliseconds(500), 10, Types.INT()).map(lambda v: v)
try:
    env.execute()
except Exception as error:
    print("Async function call has timed out for input: 2" in str(error))
