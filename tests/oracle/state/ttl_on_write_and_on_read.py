"""OnCreateAndWrite expires in spite of reads, OnReadAndWrite lives as long as it is read."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        def state(name, update_type):
            ttl = StateTtlConfig.new_builder(Time.milliseconds(1500)).set_update_type(update_type).build()
            descriptor = ValueStateDescriptor(name, Types.STRING())
            descriptor.enable_time_to_live(ttl)
            return runtime_context.get_state(descriptor)

        self.written = state("written", StateTtlConfig.UpdateType.OnCreateAndWrite)
        self.read = state("read", StateTtlConfig.UpdateType.OnReadAndWrite)

    def process_element(self, value, ctx):
        yield "%d %s %s" % (value, self.written.value(), self.read.value())
        if value == 0:
            self.written.update("here")
            self.read.update("here")


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
env.from_collection([0, 1, 2, 3, 4], type_info=Types.INT()).map(slow, output_type=Types.INT()).key_by(
    lambda v: "k", key_type=Types.STRING()
).process(Keep(), output_type=Types.STRING()).print()
env.execute()
