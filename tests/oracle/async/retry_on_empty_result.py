"""Exponential backoff on empty results; when attempts are used up, the last result stands."""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from pyflink.datastream.async_retry_predicates import empty_result_predicate
from pyflink.datastream.async_retry_strategies import ExponentialBackoffDelayRetryStrategy


class Later(AsyncFunction):
    def open(self, ctx):
        self.calls = {}

    async def async_invoke(self, value):
        self.calls[value] = self.calls.get(value, 0) + 1
        return [f"{value} after {self.calls[value]}"] if self.calls[value] >= value else []


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2, 3, 4, 9], type_info=Types.INT())
retry = ExponentialBackoffDelayRetryStrategy(3, 20, 100, 2.0, empty_result_predicate, None)
AsyncDataStream.ordered_wait_with_retry(ds, Later(), Time.seconds(20), retry, 10, Types.STRING()).print()
env.execute()
