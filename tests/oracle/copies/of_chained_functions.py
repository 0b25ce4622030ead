"""Results that change after they were emitted, and records that chained functions and branches change in place."""

# parallelism: 1
# modes: streaming batch
# timeout: 400
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from pyflink.common import Row, Types
from pyflink.datastream import FlatMapFunction, MapFunction, OutputTag, ProcessFunction, StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
S = Types.STRING()


def show(name, stream):
    stream.map(lambda value: f"{name}: {value}", output_type=S).print()


def numbers(*values):
    return env.from_collection(list(values), type_info=Types.INT())


@dataclass
class Seen:
    numbers: list = field(default_factory=list)


def growing_list(n):
    seen = []
    for i in range(n):
        seen.append(i)
        yield seen


def growing_dict(n):
    seen = {}
    for i in range(n):
        seen[i] = [i]
        yield seen


def growing_in_tuple(n):
    seen = []
    for i in range(n):
        seen.append(i)
        yield i, seen


def growing_dataclass(n):
    seen = Seen()
    for i in range(n):
        seen.numbers.append(i)
        yield seen


def growing_array(n):
    seen = np.zeros(n, dtype=int)
    for i in range(n):
        seen[i] = i + 1
        yield seen


def one_row(n):
    row = Row(0, [])
    for i in range(n):
        row[0] = i
        row[1].append(i)
        yield row


class Growing(MapFunction):
    def open(self, context):
        self.seen = []

    def map(self, value):
        self.seen.append(value)
        return self.seen


class Pairs(FlatMapFunction):
    """Emits a pair at every second record; the others are in it by then."""

    def open(self, context):
        self.pair = []

    def flat_map(self, value):
        self.pair.append(value)
        if len(self.pair) == 2:
            yield self.pair
            self.pair.clear()


class LinkPrevious(MapFunction):
    def open(self, context):
        self.previous = None

    def map(self, value):
        if self.previous is not None:
            self.previous["next"] = value["n"]
        self.previous = value
        return value


class ChangeAfterwards(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        value["n"] = -value["n"]


negative = OutputTag("negative")
late = OutputTag("typed", Types.LIST(Types.INT()))


class ChangeBetweenOutputs(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        value["n"] = -value["n"]
        yield negative, value
        numbers = [value["n"]]
        yield late, numbers
        numbers.append(0)


def plus(item):
    return lambda values: (values.append(item), values)[1]


def half_of_all(n):
    seen = []
    for i in range(n):
        seen.append(i)
        yield seen if i % 2 else i


show("list", numbers(3).flat_map(growing_list))
show("dict", numbers(3).flat_map(growing_dict))
show("tuple", numbers(3).flat_map(growing_in_tuple))
show("dataclass", numbers(3).flat_map(growing_dataclass).map(lambda seen: seen.numbers))
show("array", numbers(3).flat_map(growing_array).map(lambda seen: seen.tolist()))
show("mixed", numbers(4).flat_map(half_of_all))
show("declared list", numbers(3).flat_map(growing_list, output_type=Types.LIST(Types.INT())))
named = Types.ROW_NAMED(["i", "l"], [Types.INT(), Types.LIST(Types.INT())])
show("row", numbers(3).flat_map(one_row).map(lambda row: (row[0], row[1])))
show("declared row", numbers(3).flat_map(one_row, output_type=named).map(lambda row: (row[0], list(row[1]))))
numbers(3).flat_map(growing_list).print()
show("map", numbers(1, 2, 3).map(Growing()))
show("pairs", numbers(1, 2, 3, 4).flat_map(Pairs()))
show("link", env.from_collection([{"n": 1}, {"n": 2}]).map(LinkPrevious()))
show("afterwards", env.from_collection([{"n": 1}, {"n": 2}]).process(ChangeAfterwards()))
show("filtered", numbers(3).flat_map(growing_list).filter(lambda seen: len(seen) > 1))
show("by key", numbers(3).flat_map(growing_list).key_by(lambda seen: 0).map(lambda seen: seen + ["keyed"]))
outputs = env.from_collection([{"n": 1}, {"n": 2}]).process(ChangeBetweenOutputs())
show("main", outputs)
show("side", outputs.get_side_output(negative))
show("typed side", outputs.get_side_output(late))

stream = env.from_collection([[1], [2]]).map(lambda values: values)
show("branch changed", stream.map(plus(9)))
show("branch", stream)
stream = env.from_collection([[1], [2]]).map(lambda values: values)
show("filter changes", stream.filter(lambda values: values.append(9) is None))
show("beside filter", stream)
stream = env.from_collection([[1]]).map(lambda values: values)
show("with itself", stream.union(stream).map(plus(0)))
stream = env.from_collection([[1, [2]], [3, [4]]])
show("source branch changed", stream.map(lambda values: (values[1].append(9), values)[1]))
show("source branch", stream)
show("side branches changed", outputs.get_side_output(late).map(plus(9)))
env.execute()
