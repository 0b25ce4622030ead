"""A trigger's reducing state is merged when sessions merge."""

# parallelism: 1
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import ReduceFunction
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, Trigger, TriggerResult


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window, texts = context.window(), sorted(e[2] for e in elements)
        yield f"{key} [{window.start}, {window.end}) {''.join(texts)}"


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class EveryThird(Trigger):
    """Counts in state of its own; also fires at the end of the window."""

    def __init__(self):
        self.count = ReducingStateDescriptor("count", Add(), Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        count = ctx.get_partitioned_state(self.count)
        count.add(1)
        return TriggerResult.FIRE if count.get() % 3 == 0 else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.count)
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.count).clear()
        ctx.delete_event_time_timer(window.max_timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
data = [
    ("a", 0, "1"),
    ("a", 50, "2"),
    ("a", 100, "3"),
    ("a", 20, "4"),
    ("b", 0, "5"),
    ("a", 150, "6"),
    ("b", 500, "7"),
    ("a", 400, "8"),
    ("b", 520, "9"),
    ("b", 490, "x"),
    ("a", 440, "y"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(60))).trigger(EveryThird()).process(
    Show(), output_type=Types.STRING()
).print()
env.execute()
