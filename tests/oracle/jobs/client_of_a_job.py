"""execute_async gives a client: identifier, status and result of the finished job."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2], type_info=Types.INT()).map(lambda v: v * 2, output_type=Types.INT()).print()
client = env.execute_async("in the background")
result = client.get_job_execution_result().result()
print(str(result.get_job_id()) == str(client.get_job_id()), result.get_net_runtime() >= 0)
env.from_collection([1], type_info=Types.INT()).print()
result = env.execute()
print(len(str(result.get_job_id())), result.get_net_runtime() >= 0)
