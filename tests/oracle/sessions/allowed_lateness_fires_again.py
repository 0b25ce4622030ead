"""Within the allowed lateness a late record makes its session fire again, grown by the record."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


ascending = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "[%d, %d) %s" % (context.window().start, context.window().end, sorted(e[1] for e in elements))


def paused(value):
    time.sleep(0.3)
    return value


configuration = Configuration()
configuration.set_string("python.fn-execution.bundle.size", "1")
configuration.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.get_config().set_auto_watermark_interval(50)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
data = [("a", 100), ("a", 130), ("a", 105), ("a", 95), ("a", 200), ("a", 104)]
env.from_collection(data, type_info=pair).map(paused, output_type=pair).assign_timestamps_and_watermarks(
    ascending
).key_by(lambda v: v[0], key_type=Types.STRING()).window(
    EventTimeSessionWindows.with_gap(Time.milliseconds(10))
).allowed_lateness(50).process(Show(), output_type=Types.STRING()).print()
env.execute()
