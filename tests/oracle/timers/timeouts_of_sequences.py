"""Sequences of events that end, or time out by a timer that each event sets anew."""
# compare: per-key
# key: ^(\w+)

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    ListStateDescriptor,
    ValueStateDescriptor,
)


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(ds):
    return ds.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
    )


env = StreamExecutionEnvironment.get_execution_environment()


class Timeout(KeyedProcessFunction):
    def open(self, ctx):
        self.pending = ctx.get_state(ValueStateDescriptor("pending", Types.LONG()))
        self.events = ctx.get_list_state(ListStateDescriptor("events", Types.STRING()))

    def process_element(self, v, ctx):
        old = self.pending.value()
        if old is not None:
            ctx.timer_service().delete_event_time_timer(old)
        self.events.add(v[2])
        if v[2] == "end":
            yield "%s done %s" % (v[0], list(self.events))
            self.events.clear()
            self.pending.clear()
            return
        new = ctx.timestamp() + 20
        ctx.timer_service().register_event_time_timer(new)
        self.pending.update(new)

    def on_timer(self, timestamp, ctx):
        yield "%s timeout %d %s" % (ctx.get_current_key(), timestamp, list(self.events.get()))
        self.events.clear()
        self.pending.clear()


t = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
ds = stamped(
    env.from_collection(
        [
            ("a", 1, "start"),
            ("b", 2, "start"),
            ("a", 15, "go"),
            ("a", 30, "end"),
            ("b", 40, "late"),
            ("c", 41, "start"),
            ("a", 90, "again"),
        ],
        type_info=t,
    )
)
ds.key_by(lambda v: v[0], key_type=Types.STRING()).process(Timeout(), output_type=Types.STRING()).print()
env.execute()
