"""`MapState.put_all` takes pairs of key and value, which may come from a generator."""

# parallelism: 1
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedBroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor

COUNTS = MapStateDescriptor("counts", Types.STRING(), Types.INT())


class Pairs(KeyedProcessFunction):
    """Puts the letters of a word with their positions."""

    def open(self, runtime_context):
        """Get the state."""
        self.counts = runtime_context.get_map_state(COUNTS)

    def process_element(self, value, ctx):
        """Put pairs, and tell all entries."""
        self.counts.put_all([("first", 1), ("second", 2)])
        self.counts.put_all((letter, position) for position, letter in enumerate(value))
        self.counts.put_all({"third": 3}.items())
        yield f"{value} {sorted(self.counts.items())}"


class Rules(KeyedBroadcastProcessFunction):
    """Puts pairs into broadcast state."""

    def process_element(self, value, ctx):
        """Do nothing."""
        return []

    def process_broadcast_element(self, value, ctx):
        """Put pairs, and tell all entries."""
        rules = ctx.get_broadcast_state(COUNTS)
        rules.put_all([(value, 1), ("other", 2)])
        yield f"{value} {sorted(rules.items())}"


env = StreamExecutionEnvironment.get_execution_environment()
words = env.from_collection(["ab", "cd", "ab"], Types.STRING())
words.key_by(lambda word: word).process(Pairs(), Types.STRING()).print("keyed")
rules = env.from_collection(["rule"], Types.STRING()).broadcast(COUNTS)
words.key_by(lambda word: word).connect(rules).process(Rules(), Types.STRING()).filter(lambda _: True).print("rules")
env.execute()
