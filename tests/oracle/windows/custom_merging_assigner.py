"""A merging window assigner of the program's own, with a bound on the size of windows."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeTrigger, MergingWindowAssigner, TimeWindow, TimeWindowSerializer


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window, texts = context.window(), sorted(e[2] for e in elements)
        yield f"{key} [{window.start}, {window.end}) {''.join(texts)}"


class UpTo30(MergingWindowAssigner):
    """Windows of 10 ms that merge when they touch or overlap, but never beyond 30 ms."""

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + 10)]

    def merge_windows(self, windows, callback):
        group = []
        for window in sorted(windows, key=lambda w: (w.start, w.end)):
            if group and (window.start > max(w.end for w in group) or window.end - group[0].start > 30):
                self.report(group, callback)
                group = []
            group.append(window)
        self.report(group, callback)

    def report(self, group, callback):
        if len(group) > 1:
            callback.merge(group, TimeWindow(group[0].start, max(w.end for w in group)))

    def get_default_trigger(self, env):
        return EventTimeTrigger()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


env = StreamExecutionEnvironment.get_execution_environment()
data = [
    ("a", 0, "1"),
    ("a", 8, "2"),
    ("a", 16, "3"),
    ("a", 24, "4"),
    ("a", 33, "5"),
    ("a", 60, "6"),
    ("a", 70, "7"),
    ("a", 69, "8"),
    ("a", 90, "9"),
    ("b", 5, "x"),
    ("b", 40, "y"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
keyed.window(UpTo30()).process(Show(), output_type=Types.STRING()).print()
env.execute()
