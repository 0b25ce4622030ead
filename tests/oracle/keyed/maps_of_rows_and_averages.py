"""Rows buffered in a map state until their timer, beside an aggregating state and a side output."""
# compare: per-key
# key: ^(\w+)

from __future__ import annotations

from pyflink.common import Row, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    KeyedProcessFunction,
    OutputTag,
    StreamExecutionEnvironment,
)
from pyflink.datastream.functions import AggregateFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
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
tag = OutputTag("t", Types.TUPLE([Types.STRING(), Types.INT()]))


class F(KeyedProcessFunction):
    def open(self, ctx):
        self.buf = ctx.get_map_state(MapStateDescriptor("buf", Types.LONG(), Types.ROW([Types.STRING(), Types.INT()])))
        self.n = ctx.get_aggregating_state(
            AggregatingStateDescriptor("n", Avg(), Types.TUPLE([Types.INT(), Types.INT()]))
        )

    def process_element(self, v, ctx):
        self.buf.put(ctx.timestamp(), Row(v[0], v[2]))
        self.n.add(v[2])
        ctx.timer_service().register_event_time_timer(ctx.timestamp() // 10 * 10 + 10)
        if v[2] < 0:
            yield tag, (v[0], v[2])

    def on_timer(self, ts, ctx):
        due = sorted(k for k in self.buf.keys() if k < ts)
        for k in due:
            r = self.buf.get(k)
            yield "%s %d %s %d avg %s" % (ctx.get_current_key(), ts, r[0], r[1], self.n.get())
            self.buf.remove(k)


class Avg(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, v, a):
        return a[0] + v, a[1] + 1

    def get_result(self, a):
        return a[0] / a[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


t = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])
ds = stamped(
    env.from_collection(
        [("a", 1, 5), ("b", 2, -1), ("a", 3, 7), ("a", 12, 2), ("b", 13, 1), ("a", 25, -9)], type_info=t
    )
)
p = ds.key_by(lambda v: v[0], key_type=Types.STRING()).process(F(), output_type=Types.STRING())
p.print()
p.get_side_output(tag).map(lambda v: "%s side %d" % v, output_type=Types.STRING()).print()
env.execute()
