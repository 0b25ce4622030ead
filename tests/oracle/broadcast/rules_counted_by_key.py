"""The broadcast side comes out of a keyed operator, from all of its subtasks, and is the same wherever it arrives."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedBroadcastProcessFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

VOTES = MapStateDescriptor("votes", Types.STRING(), Types.INT())


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.votes = runtime_context.get_state(ValueStateDescriptor("votes", Types.INT()))

    def process_element(self, value, ctx):
        self.votes.update((self.votes.value() or 0) + 1)
        yield value, self.votes.value()


class Result(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(VOTES).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        yield f"{ctx.get_current_key()}: {sorted(ctx.get_broadcast_state(VOTES).items())}"


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.INT()])
votes = (
    env.from_collection(list("abacabadabacaba"), type_info=Types.STRING())
    .key_by(lambda value: value, key_type=Types.STRING())
    .process(Count(), output_type=pair)
)
asking = env.from_collection(list(range(1, 9)), type_info=Types.INT())
asking.key_by(lambda value: value, key_type=Types.INT()).connect(votes.broadcast(VOTES)).process(
    Result(), output_type=Types.STRING()
).print()
env.execute()
