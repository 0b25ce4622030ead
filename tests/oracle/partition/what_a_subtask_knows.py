"""The runtime context tells parallelism, key groups, attempt and job parameters."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Show(MapFunction):
    def open(self, runtime_context):
        self.context = runtime_context

    def map(self, value):
        c = self.context
        return "%d %s %d %d %s %s" % (
            value,
            c.get_index_of_this_subtask() < 2,
            c.get_number_of_parallel_subtasks(),
            c.get_attempt_number(),
            c.get_job_parameter("color", "none"),
            c.get_job_parameter("shape", "none"),
        )


env = StreamExecutionEnvironment.get_execution_environment()
env.get_config().set_global_job_parameters({"color": "red"})
env.from_collection([1, 2, 3, 4], type_info=Types.INT()).rebalance().map(
    Show(), output_type=Types.STRING()
).set_parallelism(2).print()
env.execute()
