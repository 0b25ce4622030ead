"""A KeySelector class; keying a keyed stream again; grouping by a computed key of several fields."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, KeySelector, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class First(KeySelector):
    def get_key(self, value):
        return value[0]


class Last(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(1)

    def on_timer(self, timestamp, ctx):
        yield str(ctx.get_current_key()), self.sum.value()


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = env.from_collection(
    [("apple", 1), ("avocado", 2), ("banana", 3), ("apple", 4), ("blueberry", 5)], type_info=pair
)
data.key_by(First(), key_type=Types.STRING()).process(Last(), output_type=pair).key_by(
    lambda v: v[0][0], key_type=Types.STRING()
).process(Last(), output_type=pair).print("initials")
data.key_by(First(), key_type=Types.STRING()).key_by(lambda v: v[1] % 2, key_type=Types.LONG()).process(
    Last(), output_type=pair
).print("parity")
data.key_by(lambda v: (v[0][0], v[1] > 2), key_type=Types.TUPLE([Types.STRING(), Types.BOOLEAN()])).process(
    Last(), output_type=pair
).print("both")
env.execute()
