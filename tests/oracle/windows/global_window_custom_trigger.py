"""A custom trigger on the global window: every TriggerResult, per key."""

# parallelism: 1
# compare: per-key
from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {''.join(e[2] for e in elements)}"


class UntilMark(Trigger):
    """ "!" evaluates and empties the window, "?" evaluates it, "-" empties it."""

    def on_element(self, element, timestamp, window, ctx):
        results = {"!": TriggerResult.FIRE_AND_PURGE, "?": TriggerResult.FIRE, "-": TriggerResult.PURGE}
        return results.get(element[2], TriggerResult.CONTINUE)

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


env = StreamExecutionEnvironment.get_execution_environment()
data = [
    ("a", 0, "1"),
    ("a", 1, "2"),
    ("b", 2, "?"),
    ("a", 3, "4"),
    ("b", 4, "-"),
    ("a", 5, "!"),
    ("a", 6, "7"),
    ("b", 7, "8"),
    ("b", 8, "!"),
    ("a", 9, "?"),
    ("a", 10, "1"),
    ("b", 11, "-"),
    ("a", 12, "!"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
keyed.window(GlobalWindows.create()).trigger(UntilMark()).process(Show(), output_type=Types.STRING()).print()
env.execute()
