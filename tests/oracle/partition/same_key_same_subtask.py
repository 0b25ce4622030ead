"""All records of a key go to one subtask, from every input and after every repartitioning."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor


class Where(KeyedProcessFunction):
    def open(self, runtime_context):
        self.me = runtime_context.get_index_of_this_subtask()
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.INT(), Types.INT()))

    def process_element(self, value, ctx):
        self.seen.put(self.me, 1)
        if value >= 90:
            yield "key %d in %d subtask" % (ctx.get_current_key(), len(list(self.seen.keys())))


env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection(list(range(100)), type_info=Types.INT())
shuffled = numbers.shuffle().map(lambda v: v, output_type=Types.INT())
numbers.rebalance().map(lambda v: v, output_type=Types.INT()).union(shuffled).key_by(
    lambda v: v % 10, key_type=Types.INT()
).process(Where(), output_type=Types.STRING()).print()
env.execute()
