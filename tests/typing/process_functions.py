"""What type checkers infer for functions with time and state, of one stream and of two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_type

from scurry.common.typeinfo import Types
from scurry.common.types import Row
from scurry.datastream import (
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    ConnectedStreams,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from scurry.datastream.data_stream import BroadcastConnectedStream, BroadcastStream
from scurry.datastream.state import (
    BroadcastState,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReadOnlyBroadcastState,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)

env = StreamExecutionEnvironment.get_execution_environment()
lines = env.from_collection(["a", "b"])
numbers = env.from_collection([1, 2, 3])
lengths = lines.key_by(len)
LONG = OutputTag("long", Types.STRING())
RULES = MapStateDescriptor("rules", str, int)


class Short(ProcessFunction[str, str]):
    def process_element(self, value: str, ctx: ProcessFunction.Context) -> Iterator[str | tuple[OutputTag[str], str]]:
        assert_type(ctx.timestamp(), int)
        if len(value) > 3:
            yield LONG, value
        else:
            yield value


class Count(KeyedProcessFunction[int, str, tuple[int, int]]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        assert_type(self.count, ValueState[int])

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context[int]) -> Iterable[tuple[int, int]]:
        assert_type(ctx.get_current_key(), int)
        seen = (self.count.value() or 0) + 1
        self.count.update(seen)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1000)
        return [(ctx.get_current_key(), seen)]

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[int]) -> None:
        assert_type(ctx.get_current_key(), int)
        self.count.clear()


class AsInPyFlink(KeyedProcessFunction):
    def process_element(self, value: str, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        assert_type(ctx.get_current_key(), Any)
        yield value


class Both(CoMapFunction[str, int, str]):
    def map1(self, value: str) -> str:
        return value

    def map2(self, value: int) -> str | None:
        return str(value) if value else None


class BothFlat(CoFlatMapFunction[str, int, str]):
    def flat_map1(self, value: str) -> list[str]:
        return [value]

    def flat_map2(self, value: int) -> None:
        return None


class Joined(KeyedCoProcessFunction[int, str, int, bool]):
    def process_element1(self, value: str, ctx: KeyedCoProcessFunction.Context[int]) -> Iterator[bool]:
        yield len(value) == ctx.get_current_key()

    def process_element2(self, value: int, ctx: KeyedCoProcessFunction.Context[int]) -> Iterator[bool]:
        yield value == ctx.get_current_key()


class Ruled(BroadcastProcessFunction[str, tuple[str, int], int]):
    def process_element(self, value: str, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterator[int]:
        rules = ctx.get_broadcast_state(RULES)
        assert_type(rules, ReadOnlyBroadcastState[str, int])
        yield rules[value] or 0

    def process_broadcast_element(self, value: tuple[str, int], ctx: BroadcastProcessFunction.Context) -> None:
        rules = ctx.get_broadcast_state(RULES)
        assert_type(rules, BroadcastState[str, int])
        rules[value[0]] = value[1]


class KeyedRuled(KeyedBroadcastProcessFunction[int, str, tuple[str, int], int]):
    def process_element(self, value: str, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext[int]) -> Iterator[int]:
        yield ctx.get_current_key()

    def process_broadcast_element(self, value: tuple[str, int], ctx: KeyedBroadcastProcessFunction.Context) -> None:
        ctx.apply_to_keyed_state(ValueStateDescriptor("count", int), lambda key, count: count.update(key))


class Lookup(AsyncFunction[str, int]):
    async def async_invoke(self, value: str) -> list[int]:
        return [len(value)]


def process_functions() -> None:
    short = lines.process(Short())
    assert_type(short, DataStream[str])
    assert_type(short.get_side_output(LONG), DataStream[str])
    assert_type(short.get_side_output(OutputTag("any")), DataStream[Any])
    assert_type(lengths.process(Count()), DataStream[tuple[int, int]])
    assert_type(lengths.process(AsInPyFlink()), DataStream[Any])
    assert_type(lengths.process(AsInPyFlink(), Types.STRING()), DataStream[str])
    assert_type(lengths.process(Count(), Types.ROW([Types.INT(), Types.INT()])), DataStream[Row])


def states(context: RuntimeContext) -> None:
    assert_type(context.get_state(ValueStateDescriptor("v")), ValueState[Any])
    assert_type(context.get_state(ValueStateDescriptor("v", tuple[int, str])), ValueState[tuple[int, str]])
    assert_type(context.get_state(ValueStateDescriptor("v", str)).value(), str | None)
    assert_type(context.get_list_state(ListStateDescriptor("l", Types.STRING())), ListState[str])
    assert_type(context.get_map_state(MapStateDescriptor("m", str, Types.INT())), MapState[str, int])
    assert_type(context.get_map_state(RULES).get("a"), int | None)
    reducing = ReducingStateDescriptor("r", lambda one, two: one + two, Types.LONG())
    assert_type(context.get_reducing_state(reducing), ReducingState[int])
    untyped: ValueStateDescriptor = ValueStateDescriptor("v").with_migration(version=1)
    assert_type(untyped, ValueStateDescriptor[Any])


def two_streams() -> None:
    connected = lines.connect(numbers)
    assert_type(connected, ConnectedStreams[str, int])
    assert_type(connected.map(Both()), DataStream[str])
    assert_type(connected.flat_map(BothFlat(), Types.STRING()), DataStream[str])
    assert_type(connected.key_by(len, lambda number: number).process(Joined()), DataStream[bool])
    rules = env.from_collection([("a", 1)]).broadcast(RULES)
    assert_type(rules, BroadcastStream[tuple[str, int]])
    assert_type(lines.connect(rules), BroadcastConnectedStream[str, tuple[str, int]])
    assert_type(lines.connect(rules).process(Ruled()), DataStream[int])
    assert_type(lengths.connect(rules).process(KeyedRuled()), DataStream[int])


def asynchronous_functions() -> None:
    assert_type(AsyncDataStream.unordered_wait(lines, Lookup(), 1000), DataStream[int])
    assert_type(AsyncDataStream.ordered_wait(lines, Lookup(), 1000, 10, Types.STRING()), DataStream[str])


def wrong_programs(context: RuntimeContext) -> None:
    lines.process(Count())  # type: ignore[call-overload]
    lengths.process(Short())  # type: ignore[call-overload]
    lines.key_by(lambda line: line).process(Count())  # type: ignore[arg-type]
    numbers.process(Short())  # type: ignore[arg-type]
    context.get_state(ListStateDescriptor("l"))  # type: ignore[arg-type]
    context.get_state(ValueStateDescriptor("v", Types.STRING())).update(1)  # type: ignore[arg-type]
    context.get_map_state(RULES).put("a", "b")  # type: ignore[arg-type]
    ReducingStateDescriptor("r", Short())  # type: ignore[arg-type]
    lines.connect(lines).map(Both())  # type: ignore[arg-type]
    lines.connect(numbers).process(Ruled())  # type: ignore[call-overload]
    lines.connect(numbers).key_by(len)  # type: ignore[call-arg]
    AsyncDataStream.unordered_wait(numbers, Lookup(), 1000)  # type: ignore[misc]


class WrongResult(ProcessFunction[str, int]):
    def process_element(self, value: str, ctx: ProcessFunction.Context) -> Iterator[str]:  # type: ignore[override]
        yield value
