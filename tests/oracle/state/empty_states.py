"""What each kind of state gives before anything is put into it, and after clear()."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return "sum %d" % accumulator

    def merge(self, a, b):
        return a + b


class Show(KeyedProcessFunction):
    def open(self, runtime_context):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.INT()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.INT(), Types.STRING()))
        self.reducing = runtime_context.get_reducing_state(ReducingStateDescriptor("r", max, Types.INT()))
        self.aggregating = runtime_context.get_aggregating_state(AggregatingStateDescriptor("a", Sum(), Types.INT()))

    def show(self):
        return "%s %s %s %s %s %s" % (
            self.value.value(),
            list(self.list.get()),
            sorted(self.map.items()),
            self.map.is_empty(),
            self.reducing.get(),
            self.aggregating.get(),
        )

    def process_element(self, value, ctx):
        yield "before %d: %s" % (value, self.show())
        self.value.update(value)
        self.list.add(value)
        self.map.put(value, str(value))
        self.reducing.add(value)
        self.aggregating.add(value)
        yield "after %d: %s" % (value, self.show())
        if value == 2:
            for state in (self.value, self.list, self.map, self.reducing, self.aggregating):
                state.clear()


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 3, 4], type_info=Types.INT()).key_by(lambda v: "all", key_type=Types.STRING()).process(
    Show(), output_type=Types.STRING()
).print()
env.execute()
