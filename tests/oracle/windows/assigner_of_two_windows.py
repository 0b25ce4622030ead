"""An assigner that puts some elements into two windows, with its own trigger and with counts."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeTrigger,
    PurgingTrigger,
    TimeWindow,
    WindowAssigner,
)


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(ds):
    return ds.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
    )


env = StreamExecutionEnvironment.get_execution_environment()


class Days(WindowAssigner):
    def assign_windows(self, element, timestamp, context):
        assert context.get_current_processing_time() > 0
        base = timestamp - timestamp % 10
        return [TimeWindow(base, base + 10)] + ([TimeWindow(0, 100)] if element[0] == "a" else [])

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        from pyflink.datastream.window import TimeWindowSerializer

        return TimeWindowSerializer()

    def is_event_time(self):
        return True


class P(ProcessWindowFunction):
    def process(self, key, ctx, els):
        yield "%s %s %s" % (key, ctx.window(), sorted(e[1] for e in els))


t = Types.TUPLE([Types.STRING(), Types.LONG()])
ds = stamped(env.from_collection([("a", 1), ("b", 2), ("a", 15), ("b", 11), ("a", 99)], type_info=t))
ds.key_by(lambda v: v[0], key_type=Types.STRING()).window(Days()).process(P(), output_type=Types.STRING()).print()
ds.key_by(lambda v: v[0], key_type=Types.STRING()).window(Days()).trigger(
    PurgingTrigger.of(CountTrigger.of(2))
).process(P(), output_type=Types.STRING()).print("count")
env.execute()
