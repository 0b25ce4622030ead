"""Timers that both inputs of a keyed co-process function set read the state of both."""
# compare: per-key
# key: ^(\w+)

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    KeyedCoProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
)


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(ds):
    return ds.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
    )


env = StreamExecutionEnvironment.get_execution_environment()


class J(KeyedCoProcessFunction):
    def open(self, ctx):
        self.left = ctx.get_list_state(ListStateDescriptor("left", Types.LONG()))
        self.right = ctx.get_map_state(MapStateDescriptor("right", Types.LONG(), Types.STRING()))

    def process_element1(self, v, ctx):
        self.left.add(v[1])
        ctx.timer_service().register_event_time_timer(100)

    def process_element2(self, v, ctx):
        self.right.put(v[1], v[2])
        ctx.timer_service().register_event_time_timer(200 + v[1])

    def on_timer(self, timestamp, ctx):
        yield "%s %d %s %s wm=%d" % (
            ctx.get_current_key(),
            timestamp,
            sorted(self.left.get()),
            sorted(self.right.items()),
            ctx.timer_service().current_watermark(),
        )


a = stamped(env.from_collection([("x", 1), ("y", 2), ("x", 3)], type_info=Types.TUPLE([Types.STRING(), Types.LONG()])))
b = stamped(
    env.from_collection(
        [("x", 1, "one"), ("z", 5, "five")], type_info=Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
    )
)
a.key_by(lambda v: v[0], key_type=Types.STRING()).connect(b.key_by(lambda v: v[0], key_type=Types.STRING())).process(
    J(), output_type=Types.STRING()
).print()
env.execute()
