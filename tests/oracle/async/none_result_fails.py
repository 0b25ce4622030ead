"""A call that returns None fails the job; one that returns no iterable does, too."""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Results(AsyncFunction):
    def __init__(self, result):
        self.result = result

    async def async_invoke(self, value):
        return self.result


for result in (None, 7):
    env = StreamExecutionEnvironment.get_execution_environment()
    ds = env.from_collection([1], type_info=Types.INT())
    AsyncDataStream.ordered_wait(ds, Results(result), Time.seconds(20)).print()
    try:
        env.execute()
        print("finished with", result)
    except Exception as error:
        print("failed with", result, "async_invoke" in str(error))
