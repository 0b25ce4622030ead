"""The timeout covers all attempts of a record, with the waits between them."""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from pyflink.datastream.async_retry_predicates import has_exception_predicate
from pyflink.datastream.async_retry_strategies import FixedDelayRetryStrategy


class Down(AsyncFunction):
    async def async_invoke(self, value):
        if value % 2:
            raise ValueError("not now")
        return [f"ok {value}"]

    def timeout(self, value):
        return [f"timeout {value}"]


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
retry = FixedDelayRetryStrategy(1000, 100, None, has_exception_predicate)
AsyncDataStream.ordered_wait_with_retry(ds, Down(), Time.seconds(2), retry, 10, Types.STRING()).print()
env.execute()
