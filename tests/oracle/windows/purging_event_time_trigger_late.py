"""PurgingTrigger of EventTimeTrigger with lateness: a late element fires alone, as the rest was purged."""

# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeTrigger, PurgingTrigger, TumblingEventTimeWindows


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window, texts = context.window(), sorted(e[2] for e in elements)
        yield f"{key} [{window.start}, {window.end}) {''.join(texts)}"


def slow(value):
    time.sleep(0.4)
    return value


conf = Configuration()
conf.set_string("python.fn-execution.bundle.size", "1")
conf.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(conf)
env.get_config().set_auto_watermark_interval(50)
data = [
    ("a", 10, "1"),
    ("a", 20, "2"),
    ("a", 150, "3"),
    ("a", 30, "4"),
    ("a", 40, "5"),
    ("a", 400, "6"),
    ("a", 50, "7"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed).map(slow, output_type=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(100))).allowed_lateness(200)
windowed.trigger(PurgingTrigger.of(EventTimeTrigger.create())).process(Show(), output_type=Types.STRING()).print()
env.execute()
