"""apply over keyed windows with an offset, over all elements in sliding windows, sessions and the global window."""

from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    OutputTag,
    StreamExecutionEnvironment,
    WindowFunction,
)
from pyflink.datastream.functions import AllWindowFunction
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
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
late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


class W(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, window.start, window.end, len(list(inputs)))]


class A(AllWindowFunction):
    def apply(self, window, inputs):
        yield "%s %s" % (window, sorted(i[1] for i in inputs))


t = Types.TUPLE([Types.STRING(), Types.LONG()])
ds = stamped(env.from_collection([("a", 1), ("b", 5), ("a", 12), ("b", 14), ("a", 33)], type_info=t))
w = (
    ds.key_by(lambda v: v[0], key_type=Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(4)))
    .side_output_late_data(late)
    .apply(W())
)
w.print("w")
w.get_side_output(late).print("late")
ds.window_all(SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10))).apply(
    A(), output_type=Types.STRING()
).print("all")
ds.window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(8))).apply(A(), output_type=Types.STRING()).print(
    "session"
)
ds.window_all(GlobalWindows.create()).trigger(CountTrigger.of(2)).apply(A(), output_type=Types.STRING()).print("global")
env.execute()
