"""Event-time timers of records without timestamps fire at the end of the input."""

# compare: per-key
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(7)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.count.value()


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 3, 4, 5], type_info=Types.INT()).key_by(
    lambda v: "odd" if v % 2 else "even", key_type=Types.STRING()
).process(Count()).print()
env.execute()
