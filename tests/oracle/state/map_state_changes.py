"""Map state: overwriting, removing, contains, iteration after changes, entries per key."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor


class Words(KeyedProcessFunction):
    def open(self, runtime_context):
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        for word in value[1].split():
            self.map[word] = (self.map.get(word) or 0) + 1
        if "x" in self.map:
            del self.map["x"]
        yield "%s %s %s %s %s %s" % (
            value[0],
            sorted(self.map.keys()),
            sorted(self.map.values()),
            sorted(self.map),
            self.map.contains("a"),
            self.map.get("zzz"),
        )
        if value[1] == "b b":
            self.map.clear()


env = StreamExecutionEnvironment.get_execution_environment()
data = [("k", "a b a x"), ("l", "x"), ("k", "x c a"), ("l", "b b"), ("l", "c")]
env.from_collection(data, type_info=Types.TUPLE([Types.STRING(), Types.STRING()])).key_by(
    lambda v: v[0], key_type=Types.STRING()
).process(Words(), output_type=Types.STRING()).print()
env.execute()
