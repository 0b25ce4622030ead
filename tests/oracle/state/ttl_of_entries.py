"""List elements and map entries expire one by one."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        ttl = StateTtlConfig.new_builder(Time.milliseconds(2500)).build()
        numbers = ListStateDescriptor("numbers", Types.INT())
        numbers.enable_time_to_live(ttl)
        names = MapStateDescriptor("names", Types.INT(), Types.STRING())
        names.enable_time_to_live(ttl)
        self.numbers = runtime_context.get_list_state(numbers)
        self.names = runtime_context.get_map_state(names)

    def process_element(self, value, ctx):
        self.numbers.add(value)
        self.names.put(value, "n%d" % value)
        yield "%s %s" % (list(self.numbers.get()), sorted(self.names.items()))


def slow(value):
    time.sleep(1)
    return value


configuration = Configuration()
configuration.set_string("python.fn-execution.bundle.size", "1")
configuration.set_string("python.state.cache-size", "0")
configuration.set_string("python.map-state.read-cache-size", "0")
configuration.set_string("python.map-state.write-cache-size", "0")
configuration.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.from_collection([0, 1, 2, 3, 4, 5], type_info=Types.INT()).map(slow, output_type=Types.INT()).key_by(
    lambda v: "k", key_type=Types.STRING()
).process(Keep(), output_type=Types.STRING()).print()
env.execute()
