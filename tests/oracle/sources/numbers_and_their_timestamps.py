"""A number sequence, in one and several splits, with timestamps."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield "%d %d" % (context.window().start, sum(elements))


env = StreamExecutionEnvironment.get_execution_environment()
strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(Itself())
env.from_source(
    NumberSequenceSource(1, 40), WatermarkStrategy.no_watermarks(), "numbers", type_info=Types.LONG()
).assign_timestamps_and_watermarks(strategy).window_all(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(
    Show(), output_type=Types.STRING()
).print()
env.from_source(NumberSequenceSource(7, 7), WatermarkStrategy.no_watermarks(), "one").print("one")
env.execute()
