"""The end of the input does not wait for processing-time timers; event-time timers fire."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + 3_600_000)
        timers.register_event_time_timer(5)
        yield "element %d" % value

    def on_timer(self, timestamp, ctx):
        yield "%s timer" % ctx.time_domain().name


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2], type_info=Types.INT()).key_by(lambda v: v, key_type=Types.INT()).process(
    Remind(), output_type=Types.STRING()
).print()
env.execute()
