"""A timer that is not within 64 bits, or no number, fails the job, whether it is set or deleted."""

# timeout: 240
# parallelism: 1
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Touch(KeyedProcessFunction):
    def __init__(self, method, time):
        self.method = method
        self.time = time

    def process_element(self, value, ctx):
        getattr(ctx.timer_service(), self.method)(self.time)
        yield value


for method in ("register_event_time_timer", "register_processing_time_timer", "delete_event_time_timer"):
    for time in (2**63, -(2**63) - 1, float("nan"), "5"):
        env = StreamExecutionEnvironment.get_execution_environment()
        stream = env.from_collection(["a"], type_info=Types.STRING()).key_by(lambda value: value, Types.STRING())
        stream.process(Touch(method, time), Types.STRING()).filter(lambda value: False).print()
        try:
            env.execute()
            print(method, repr(time), "finished")
        except Exception:
            print(method, repr(time), "failed")
