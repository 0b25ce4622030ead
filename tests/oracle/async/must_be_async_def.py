"""async_invoke has to be declared 'async def'; retries need a timeout."""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from pyflink.datastream.async_retry_predicates import has_exception_predicate
from pyflink.datastream.async_retry_strategies import FixedDelayRetryStrategy


class Plain(AsyncFunction):
    def async_invoke(self, value):
        return [value]


class Fine(AsyncFunction):
    async def async_invoke(self, value):
        return [value]


env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1], type_info=Types.INT())
try:
    AsyncDataStream.ordered_wait(ds, Plain(), Time.seconds(1))
except Exception as error:
    print("should be declared as 'async def'" in str(error))
try:
    retry = FixedDelayRetryStrategy(1, 1, None, has_exception_predicate)
    AsyncDataStream.ordered_wait_with_retry(ds, Fine(), Time.milliseconds(0), retry)
except Exception as error:
    print("imeout" in str(error))
