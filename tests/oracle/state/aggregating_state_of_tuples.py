"""Aggregating state keeps an accumulator of its own type and gives the result of each moment."""

# compare: per-key
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import AggregatingStateDescriptor


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Averages(KeyedProcessFunction):
    def open(self, runtime_context):
        self.average = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("average", Average(), Types.TUPLE([Types.LONG(), Types.LONG()]))
        )

    def process_element(self, value, ctx):
        self.average.add(value)
        yield "%s %s" % (ctx.get_current_key(), self.average.get())


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 5, 10, 3, 1], type_info=Types.LONG()).key_by(
    lambda v: "odd" if v % 2 else "even", key_type=Types.STRING()
).process(Averages(), output_type=Types.STRING()).print()
env.execute()
