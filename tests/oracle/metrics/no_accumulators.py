"""Metrics are not accumulators of their own in PyFlink: a job without any has none."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 3], type_info=Types.INT()).map(lambda x: x + 1, output_type=Types.INT()).print()
client = env.execute_async("no accumulators")
result = client.get_job_execution_result().result()
print(result.get_all_accumulator_results(), result.get_accumulator_result("any"))
print(client.get_accumulators().result())
