"""A partitioner that gives a number outside the range fails the job."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import Partitioner, StreamExecutionEnvironment


class Wrong(Partitioner):
    def partition(self, key, num_partitions):
        return num_partitions


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1], type_info=Types.INT()).partition_custom(Wrong(), lambda v: v).map(
    lambda v: v, output_type=Types.INT()
).set_parallelism(2).print()
try:
    env.execute()
    print("finished")
except Exception:
    print("failed")
