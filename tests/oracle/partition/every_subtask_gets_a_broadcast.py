"""broadcast() without state copies each record to every subtask of the next operator."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Where(MapFunction):
    def open(self, runtime_context):
        self.me = runtime_context.get_index_of_this_subtask()
        self.all = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return "%d in %d of %d" % (value, self.me, self.all)


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 3], type_info=Types.INT()).broadcast().map(
    Where(), output_type=Types.STRING()
).set_parallelism(3).print().set_parallelism(1)
env.execute()
