"""Counters and meters can be read where they are registered; groups of one name are one group."""

# parallelism: 1
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Counting(MapFunction):
    def open(self, ctx):
        group = ctx.get_metrics_group().add_group("my").add_group("key", "value")
        self.counter = group.counter("count")
        self.meter = ctx.get_metrics_group().meter("events", 10)
        self.distribution = ctx.get_metrics_group().distribution("values")
        ctx.get_metrics_group().gauge("answer", lambda: 42)

    def map(self, value):
        self.counter.inc(value)
        self.counter.dec()
        self.meter.mark_event(2)
        self.distribution.update(value)
        return value, self.counter.get_count(), self.meter.get_count()


env = StreamExecutionEnvironment.get_execution_environment()
env.get_config().set_global_job_parameters({"a": "b"})
env.from_collection([1, 2, 3], type_info=Types.INT()).map(Counting()).print()
env.execute()
