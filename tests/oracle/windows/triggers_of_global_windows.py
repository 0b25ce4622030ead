"""Triggers of the global window: by the distance of values, by timers, by counts, and none at all."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    ValueStateDescriptor,
)
from pyflink.datastream.window import (
    CountTrigger,
    GlobalWindows,
    Trigger,
    TriggerResult,
)


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(ds):
    return ds.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
    )


env = StreamExecutionEnvironment.get_execution_environment()


class Delta(Trigger):
    def __init__(self):
        self.last = ValueStateDescriptor("last", Types.DOUBLE())

    def on_element(self, e, ts, w, ctx):
        s = ctx.get_partitioned_state(self.last)
        if s.value() is None:
            s.update(e[2])
            return TriggerResult.CONTINUE
        if abs(e[2] - s.value()) > 1.0:
            s.update(e[2])
            return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.CONTINUE

    def on_processing_time(self, t, w, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, t, w, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, w, ctx):
        pass

    def clear(self, w, ctx):
        ctx.get_partitioned_state(self.last).clear()


class Timed(Trigger):
    def on_element(self, e, ts, w, ctx):
        ctx.register_event_time_timer(ts + 5)
        if e[1] == 3:
            ctx.delete_event_time_timer(ts + 5)
        return TriggerResult.CONTINUE

    def on_processing_time(self, t, w, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, t, w, ctx):
        return TriggerResult.FIRE

    def on_merge(self, w, ctx):
        pass

    def clear(self, w, ctx):
        pass


class P(ProcessWindowFunction):
    def process(self, key, ctx, els):
        yield "%s %s %s" % (key, type(ctx.window()).__name__, [e[1] for e in els])


t = Types.TUPLE([Types.STRING(), Types.LONG(), Types.DOUBLE()])
ds = stamped(
    env.from_collection(
        [("a", 1, 1.0), ("a", 2, 1.5), ("a", 3, 3.0), ("b", 4, 0.0), ("a", 5, 3.5), ("a", 6, 9.0), ("b", 7, 0.5)],
        type_info=t,
    )
)
k = ds.key_by(lambda v: v[0], key_type=Types.STRING())
k.window(GlobalWindows.create()).trigger(Delta()).process(P(), output_type=Types.STRING()).print("delta")
k.window(GlobalWindows.create()).trigger(Timed()).process(P(), output_type=Types.STRING()).print("timed")
counted = k.window(GlobalWindows.create()).trigger(CountTrigger.of(2))
counted.reduce(lambda a, b: (a[0], b[1], a[2] + b[2])).print("count")
k.window(GlobalWindows.create()).process(P(), output_type=Types.STRING()).print("never")
env.execute()
