"""Two connected keyed streams have selectors of their own over records of different types."""

# compare: per-key
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Join(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.names = runtime_context.get_list_state(ListStateDescriptor("names", Types.STRING()))
        self.amounts = runtime_context.get_list_state(ListStateDescriptor("amounts", Types.DOUBLE()))

    def process_element1(self, value, ctx):
        self.names.add(value.name)
        ctx.timer_service().register_event_time_timer(0)

    def process_element2(self, value, ctx):
        self.amounts.add(value[1])
        ctx.timer_service().register_event_time_timer(0)

    def on_timer(self, timestamp, ctx):
        yield "%d %s %s" % (ctx.get_current_key(), sorted(self.names.get()), sorted(self.amounts.get()))


env = StreamExecutionEnvironment.get_execution_environment()
people = env.from_collection(
    [Row(1, "ann"), Row(2, "bob"), Row(4, "dan")],
    type_info=Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()]),
)
orders = env.from_collection(
    [(1, 9.5), (2, 0.25), (1, 1.0), (3, 7.0)], type_info=Types.TUPLE([Types.INT(), Types.DOUBLE()])
)
people.connect(orders).key_by(lambda p: p.id, lambda o: o[0], key_type=Types.INT()).process(
    Join(), output_type=Types.STRING()
).print()
env.execute()
