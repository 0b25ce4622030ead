"""NeverTrigger and GlobalWindows' default: nothing is ever emitted, not even at the end of input."""

from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import GlobalWindows, NeverTrigger, TumblingEventTimeWindows


class Ts(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window, texts = context.window(), sorted(e[2] for e in elements)
        yield f"{key} [{window.start}, {window.end}) {''.join(texts)}"


env = StreamExecutionEnvironment.get_execution_environment()
data = [("a", 1, "1"), ("b", 2, "2")]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed)
stream = stream.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Ts())
)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())
keyed.window(GlobalWindows.create()).process(Show(), output_type=Types.STRING()).print()
keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).trigger(NeverTrigger()).process(
    Show(), output_type=Types.STRING()
).print()
stream.map(lambda v: "seen " + v[2], output_type=Types.STRING()).print()
env.execute()
