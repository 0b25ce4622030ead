"""Round robin over three subtasks: none has more than one record more than another."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Where(MapFunction):
    def open(self, runtime_context):
        self.me = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return self.me, 1


env = StreamExecutionEnvironment.get_execution_environment()
t = Types.TUPLE([Types.INT(), Types.INT()])
env.from_collection(list(range(12)), type_info=Types.INT()).rebalance().map(Where(), output_type=t).set_parallelism(
    3
).key_by(lambda v: v[0], key_type=Types.INT()).count_window(4).reduce(lambda a, b: (a[0], a[1] + b[1])).print()
env.execute()
