"""Every kind of state before its first value, after values, after clear and remove, and in a timer."""
# compare: per-key
# key: ^(\w+)

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import (
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.functions import AggregateFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

env = StreamExecutionEnvironment.get_execution_environment()


class F(KeyedProcessFunction):
    def open(self, ctx):
        self.v = ctx.get_state(ValueStateDescriptor("v", Types.STRING()))
        self.l = ctx.get_list_state(ListStateDescriptor("l", Types.TUPLE([Types.INT(), Types.STRING()])))
        self.m = ctx.get_map_state(MapStateDescriptor("m", Types.INT(), Types.LIST(Types.STRING())))
        self.r = ctx.get_reducing_state(ReducingStateDescriptor("r", lambda a, b: a + b, Types.INT()))

        class Agg(AggregateFunction):
            def create_accumulator(self):
                return []

            def add(self, v, acc):
                return acc + [v]

            def get_result(self, acc):
                return "|".join(map(str, acc))

            def merge(self, a, b):
                return a + b

        self.a = ctx.get_aggregating_state(AggregatingStateDescriptor("a", Agg(), Types.LIST(Types.INT())))

    def process_element(self, v, ctx):
        before = (
            self.v.value(),
            list(self.l.get()),
            self.r.get(),
            self.a.get(),
            self.m.is_empty(),
            list(self.m.keys()),
        )
        self.v.update("v%d" % v[1])
        self.l.add((v[1], v[0]))
        self.r.add(v[1])
        self.a.add(v[1])
        self.m.put(v[1], [v[0]] * v[1])
        if v[1] == 3:
            self.v.clear()
            self.l.update([(0, "reset")])
            self.r.clear()
            self.a.clear()
            self.m.remove(1)
        yield "%s %d %s" % (v[0], v[1], before)
        ctx.timer_service().register_event_time_timer(100)

    def on_timer(self, ts, ctx):
        yield "%s timer %s %s %s %s %s" % (
            ctx.get_current_key(),
            self.v.value(),
            list(self.l.get()),
            self.r.get(),
            self.a.get(),
            sorted(self.m.items()),
        )
        self.l.update([])
        self.v.update(None) if False else None
        yield "%s after %s" % (ctx.get_current_key(), list(self.l.get()))


ds = env.from_collection(
    [("a", 1), ("b", 2), ("a", 2), ("a", 3), ("b", 1), ("a", 4)], type_info=Types.TUPLE([Types.STRING(), Types.INT()])
)
ds.key_by(lambda v: v[0], key_type=Types.STRING()).process(F(), output_type=Types.STRING()).print()
env.execute()
