"""Exceptions that the predicate does not take are not retried."""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from pyflink.datastream.async_retry_strategies import FixedDelayRetryStrategy


class Down(AsyncFunction):
    def open(self, ctx):
        self.calls = 0

    async def async_invoke(self, value):
        self.calls += 1
        if self.calls == 1:
            raise KeyError("retried")
        raise ValueError(f"call number {self.calls}")


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1], type_info=Types.INT())
retry = FixedDelayRetryStrategy(5, 20, None, lambda error: isinstance(error, KeyError))
AsyncDataStream.unordered_wait_with_retry(ds, Down(), Time.seconds(20), retry, 10, Types.INT()).map(lambda v: v)
try:
    env.execute()
except Exception as error:
    print([n for n in range(1, 6) if f"call number {n}" in str(error)])
