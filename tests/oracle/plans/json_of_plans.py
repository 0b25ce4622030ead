"""Execution plans as JSON, without the operators that PyFlink adds of its own."""

# compare: ordered
# parallelism: 2
from __future__ import annotations

import json

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoMapFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import MapStateDescriptor
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
)

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
LATE = OutputTag("late", Types.STRING())

#: What PyFlink puts around keys, timestamps and side outputs.
OWN = {
    "_stream_key_by_map_operator", "_partition_custom_map_operator", "_keyed_stream_values_operator",
    "Extract-Timestamp", "Remove-Timestamp",
}  # fmt: skip


def without(nodes, own):
    """The nodes with those left out bridged; of two ways of shipping the one that moves records counts."""
    bridged = {node["id"]: node["predecessors"][0] for node in nodes if node["type"] in own}

    def reach(predecessor):
        while predecessor["id"] in bridged:
            before = bridged[predecessor["id"]]
            moving = before if predecessor["ship_strategy"] == "FORWARD" else predecessor
            predecessor = {**moving, "id": before["id"]}
        return predecessor

    kept = [node for node in nodes if node["id"] not in bridged]
    for node in kept:
        if "predecessors" in node:
            node["predecessors"] = [reach(each) for each in node["predecessors"]]
    return kept


def show(title, build, own=frozenset()):
    settings = Configuration()
    settings.set_string("python.operator-chaining.enabled", "false")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    build(env)
    nodes = without(json.loads(env.get_execution_plan())["nodes"], OWN | own)
    numbers = {node["id"]: number for number, node in enumerate(nodes, 1)}
    print(title)
    for node in nodes:
        predecessors = node.get("predecessors")
        print(
            " ", numbers[node["id"]], *(node[field] for field in ("type", "pact", "contents", "parallelism")), sep="|"
        )
        for each in predecessors or ():
            print("    from", numbers[each["id"]], each["ship_strategy"], each["side"])
        if predecessors is None:
            print("    from nothing")


def pairs(env):
    return env.from_collection([("a", 1)], type_info=PAIR)


def same(value):
    return value


def first(value):
    return value[0]


class Process(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class KeyedProcess(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class BothMaps(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


class BothProcess(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield value


class Ruled(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        pass


class Elements(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield from elements


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Asked(AsyncFunction):
    async def async_invoke(self, value):
        return [value]


class First(ReduceFunction):
    def reduce(self, value1, value2):
        return value1


def two_of_them(env):
    return pairs(env), pairs(env)


def union(env):
    one, other = two_of_them(env)
    one.union(other).map(same, PAIR).print()


def connect(env):
    one, other = two_of_them(env)
    one.connect(other).map(BothMaps(), PAIR).print()


def connect_keyed(env):
    one, other = two_of_them(env)
    one.connect(other).key_by(first, first, Types.STRING()).process(BothProcess(), PAIR).print()


def broadcast_state(env):
    one, other = two_of_them(env)
    one.connect(other.broadcast(RULES)).process(Ruled(), PAIR).print()


def side_output(env):
    main = pairs(env).process(Process(), PAIR)
    main.print().name("main")
    main.get_side_output(LATE).map(same, Types.STRING()).name("of late ones").print().name("late")


def two_sinks(env):
    mapped = pairs(env).map(same, PAIR)
    mapped.print()
    mapped.filter(bool).print()


def names(env):
    mapped = pairs(env).name("pairs").map(same, PAIR).name("a map").set_description("what it does")
    mapped.print().name("out").set_parallelism(1)


def unchained(env):
    env.disable_operator_chaining()
    pairs(env).map(same, PAIR).map(same, PAIR).print()


def keyed(env):
    return pairs(env).key_by(first, Types.STRING())


show("chained", lambda e: pairs(e).map(same, PAIR).filter(bool).name("mine").flat_map(same, PAIR).print())
show("parallelism", lambda e: pairs(e).map(same, PAIR).flat_map(same, PAIR).set_parallelism(1).print())
show("keyed process", lambda e: keyed(e).process(KeyedProcess(), PAIR).print())
show("keyed reduce", lambda e: keyed(e).reduce(lambda one, other: one).print())
show("keyed sum", lambda e: keyed(e).sum(1).print())
show("keyed map", lambda e: keyed(e).map(same, PAIR).print())
show("union", union)
show("connect", connect)
show("connect keyed", connect_keyed)
show("broadcast state", broadcast_state)
for way in ("rebalance", "rescale", "shuffle", "forward", "broadcast"):
    show(way, lambda e: getattr(pairs(e).map(same, PAIR), way)().map(same, PAIR).print())  # noqa: B023
show("partition_custom", lambda e: pairs(e).partition_custom(lambda k, n: k % n, first).map(same, PAIR).print())
TIMES = WatermarkStrategy.for_monotonous_timestamps()
show("watermarks", lambda e: pairs(e).map(same, PAIR).assign_timestamps_and_watermarks(TIMES).print())
show(
    "timestamps",
    lambda e: pairs(e).assign_timestamps_and_watermarks(TIMES.with_timestamp_assigner(Seconds())).print(),
)
SECOND = Time.seconds(1)
show("window process", lambda e: keyed(e).window(TumblingEventTimeWindows.of(SECOND)).process(Elements(), PAIR).print())
show(
    "window reduce",
    lambda e: keyed(e).window(SlidingProcessingTimeWindows.of(Time.seconds(2), SECOND)).reduce(First()).print(),
)
show(
    "window aggregate",
    lambda e: keyed(e).window(EventTimeSessionWindows.with_gap(SECOND)).aggregate(Count(), None, None, PAIR).print(),
)
show("count window", lambda e: keyed(e).count_window(2).process(Elements(), PAIR).set_description("by twos").print())
show("side output", side_output, {"Map"})
show("two sinks", two_sinks)
show("names", names)
show("print with a prefix", lambda e: pairs(e).print("here"))
show("unchained", unchained)
show("async", lambda e: AsyncDataStream.unordered_wait(pairs(e), Asked(), SECOND, 10, PAIR).print())
show("no sink", lambda e: pairs(e).map(same, PAIR))
show(
    "a source",
    lambda e: e.from_source(NumberSequenceSource(1, 9), TIMES, "numbers", Types.LONG()).map(same, PAIR).print(),
)
