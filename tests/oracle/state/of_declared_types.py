"""What is kept in every kind of state has its declared type later on; None clears aggregating state."""

# parallelism: 1
# timeout: 400
from __future__ import annotations

from pyflink.common import Configuration, Row, Time, Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

ROW = Types.ROW_NAMED(["n", "s"], [Types.INT(), Types.STRING()])


class Last(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return b


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        ttl = StateTtlConfig.new_builder(Time.hours(1)).build()
        double_with_ttl = ValueStateDescriptor("double with ttl", Types.DOUBLE())
        doubles_with_ttl = ListStateDescriptor("doubles with ttl", Types.DOUBLE())
        map_with_ttl = MapStateDescriptor("map with ttl", Types.INT(), Types.FLOAT())
        for descriptor in (double_with_ttl, doubles_with_ttl, map_with_ttl):
            descriptor.enable_time_to_live(ttl)
        get = runtime_context
        self.values = {
            "double": get.get_state(ValueStateDescriptor("double", Types.DOUBLE())),
            "double with ttl": get.get_state(double_with_ttl),
        }
        self.lists = {
            "doubles": get.get_list_state(ListStateDescriptor("doubles", Types.DOUBLE())),
            "floats": get.get_list_state(ListStateDescriptor("floats", Types.FLOAT())),
            "ints": get.get_list_state(ListStateDescriptor("ints", Types.INT())),
            "doubles with ttl": get.get_list_state(doubles_with_ttl),
        }
        self.rows = get.get_list_state(ListStateDescriptor("rows", ROW))
        self.maps = {
            "map": get.get_map_state(MapStateDescriptor("map", Types.INT(), Types.FLOAT())),
            "map with ttl": get.get_map_state(map_with_ttl),
        }
        self.reduced = get.get_reducing_state(ReducingStateDescriptor("reduced", lambda a, b: b, Types.DOUBLE()))
        self.aggregated = get.get_aggregating_state(AggregatingStateDescriptor("aggregated", Last(), Types.DOUBLE()))

    def process_element(self, value, ctx):
        if value == 1:
            for state in self.values.values():
                state.update(1)
            for state in self.lists.values():
                state.add_all([1, 2.5, 0.1, True])
            self.rows.update([Row(1, None), Row(s="x", n=2)])
            for state in self.maps.values():
                state.put(1.5, 7)
                state.put(1, 0.1)
            self.maps["map"].put(2, None)
            self.reduced.add(1)
            self.aggregated.add(1)
            return
        for name, state in self.values.items():
            yield "%d: %s %r" % (value, name, state.value())
        for name, state in [*self.lists.items(), ("rows", self.rows)]:
            yield "%d: %s %r" % (value, name, list(state.get()))
        for name, state in self.maps.items():
            yield "%d: %s %r" % (value, name, sorted(state.items()))
        yield "%d: reduced %r, aggregated %r" % (value, self.reduced.get(), self.aggregated.get())
        if value == 2:
            self.aggregated.add(None)
            yield "%d: aggregated %r" % (value, self.aggregated.get())


config = Configuration()
config.set_string("python.fn-execution.bundle.size", "1")
config.set_string("python.state.cache-size", "0")
config.set_string("python.map-state.read-cache-size", "0")
config.set_string("python.map-state.write-cache-size", "0")
config.set_string("scurry.batch.max-records", "1")
env = StreamExecutionEnvironment.get_execution_environment(config)
env.from_collection([1, 2, 3], type_info=Types.INT()).key_by(lambda v: 0, key_type=Types.INT()).process(
    Keep(), output_type=Types.STRING()
).print()
env.execute()
