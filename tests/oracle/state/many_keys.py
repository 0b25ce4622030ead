"""Each of a thousand keys has a state of its own, also where records of the keys alternate."""

# compare: multiset
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor


class Running(KeyedProcessFunction):
    def open(self, runtime_context):
        self.numbers = runtime_context.get_map_state(MapStateDescriptor("numbers", Types.INT(), Types.INT()))

    def process_element(self, value, ctx):
        self.numbers.put(value // 1000, value)
        if sum(1 for _ in self.numbers.keys()) == 3:
            yield ctx.get_current_key(), sum(self.numbers.values())


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection(list(range(3000)), type_info=Types.INT()).key_by(
    lambda v: "key %d" % (v % 1000), key_type=Types.STRING()
).process(Running(), output_type=Types.TUPLE([Types.STRING(), Types.INT()])).filter(lambda v: v[1] % 7 == 0).print()
env.execute()
