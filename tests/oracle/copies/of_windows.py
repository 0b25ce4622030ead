"""Accumulators that change after early results, and window functions that change the elements they get."""

# parallelism: 1
# timeout: 400
from __future__ import annotations

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import CountTrigger, SlidingEventTimeWindows, TumblingEventTimeWindows

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
S = Types.STRING()


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["t"]


late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(100)).with_timestamp_assigner(Second())


def show(name, stream):
    stream.map(lambda value: f"{name}: {value}", output_type=S).print()


def records():
    values = [{"n": 10**i, "t": i} for i in range(4)]
    return env.from_collection(values).assign_timestamps_and_watermarks(late).key_by(lambda value: 0)


def add(a, b):
    a["n"] += b["n"]
    return a


class Collect(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value["n"])
        return accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Double(ProcessWindowFunction):
    def process(self, key, context, elements):
        elements = list(elements)
        for each in elements:
            each["n"] *= 2
        yield [each["n"] for each in elements]


class DoubleAll(ProcessAllWindowFunction):
    def process(self, context, elements):
        elements = list(elements)
        for each in elements:
            each["n"] *= 2
        yield [each["n"] for each in elements]


class Append(ProcessWindowFunction):
    def process(self, key, context, elements):
        for each in elements:
            each.append("seen")
            yield each


class Elements(ProcessWindowFunction):
    def process(self, key, context, elements):
        gathered = []
        for each in elements:
            gathered.append(each["n"])
            yield gathered


tumbling, sliding = (
    TumblingEventTimeWindows.of(Time.milliseconds(100)),
    SlidingEventTimeWindows.of(Time.milliseconds(4), Time.milliseconds(2)),
)
show("aggregate", records().window(tumbling).trigger(CountTrigger.of(2)).aggregate(Collect()))
show("reduce", records().window(tumbling).trigger(CountTrigger.of(2)).reduce(add))
show("sliding", records().window(sliding).process(Double()))
show("sliding all", records().map(lambda value: value).window_all(sliding).process(DoubleAll()))
show("sliding aggregate", records().window(sliding).aggregate(Collect()))
show("early", records().window(tumbling).trigger(CountTrigger.of(2)).process(Double()))
show("early result", records().window(tumbling).trigger(CountTrigger.of(2)).aggregate(Collect(), Append()))
show("gathered", records().window(tumbling).process(Elements()))
show("count", records().count_window(2).process(Double()))
show("sliding count", records().count_window(4, 2).process(Double()))
stream = env.from_collection([{"n": 10**i, "t": i} for i in range(4)]).assign_timestamps_and_watermarks(late)
show("branch", stream.map(lambda value: value.update(n=-value["n"]) or value["n"]))
show("window of branch", stream.key_by(lambda value: 0).window(tumbling).reduce(add))
env.execute()
