"""Windows and sessions around time 0: before the epoch, with offsets, with gaps between slides."""

from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(ds):
    return ds.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
    )


env = StreamExecutionEnvironment.get_execution_environment()
t = Types.TUPLE([Types.STRING(), Types.LONG()])


class P(ProcessWindowFunction):
    def process(self, key, ctx, els):
        yield "%s %s %s wm=%s pt=%s" % (
            key,
            ctx.window(),
            sorted(e[1] for e in els),
            ctx.current_watermark(),
            ctx.current_processing_time() > 10**12,
        )


k = stamped(env.from_collection([("a", -15), ("a", -5), ("a", -1), ("a", 0), ("a", 9)], type_info=t)).key_by(
    lambda v: v[0], key_type=Types.STRING()
)
k.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(P(), output_type=Types.STRING()).print("t")
k.window(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))).process(
    P(), output_type=Types.STRING()
).print("s")
k.window(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(15))).process(
    P(), output_type=Types.STRING()
).print("gaps")
k.window(TumblingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(-3))).process(
    P(), output_type=Types.STRING()
).print("o")
k.window(EventTimeSessionWindows.with_gap(Time.milliseconds(6))).process(P(), output_type=Types.STRING()).print("sess")
env.execute()
