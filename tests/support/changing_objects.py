"""Operators that go on changing the object that they have emitted, for objects of many types.

Each operator emits an object three times: with 0, with 0 and 1, and with 0, 1 and 2 in it.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from scurry.common import Duration, Row, Time, Types, WatermarkStrategy
from scurry.common.typeinfo import TypeInformation
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import DataStream, OutputTag, StreamExecutionEnvironment
from scurry.datastream.async_data_stream import AsyncDataStream
from scurry.datastream.functions import (
    AggregateFunction,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoGroupFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
)
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import CountTrigger, GlobalWindows, TumblingEventTimeWindows


@dataclass
class Seen:
    numbers: list[int] = field(default_factory=list)


class Pair(NamedTuple):
    name: str
    numbers: list[int]


class Slotted:
    __slots__ = ("numbers",)

    def __init__(self) -> None:
        self.numbers: list[int] = []


class Numbers(list):  # type: ignore[type-arg]
    """A subclass keeps its class."""


def numbers_of(value: Any) -> list[Any]:
    """Return the list that a value of any kind holds its numbers in."""
    if isinstance(value, np.ndarray):
        return value  # type: ignore[return-value]
    if isinstance(value, list | collections.deque) and (not value or type(value[0]) is not list):
        return value  # type: ignore[return-value]
    if isinstance(value, dict):
        return value["numbers"]  # type: ignore[no-any-return]
    if isinstance(value, Seen | Slotted):
        return value.numbers
    return value[1] if isinstance(value, tuple | Row) else value[0]  # type: ignore[no-any-return]


def add(value: Any, number: int) -> Any:
    """Change a value in place."""
    if isinstance(value, np.ndarray):
        value[list(value).index(-1)] = number
    elif isinstance(value, dict) and "numbers" not in value:
        value[str(number)] = number
    else:
        numbers_of(value).append(number)
    return value


def shown(value: Any) -> tuple[str, list[int]]:
    """Return the class of a value and the numbers in it."""
    if isinstance(value, dict) and "numbers" not in value:
        return type(value).__name__, list(value.values())
    return type(value).__name__, [int(each) for each in numbers_of(value) if each != -1]


numbers_type = Types.LIST(Types.INT())
KINDS: dict[str, tuple[Callable[[], Any], TypeInformation | None]] = {
    "list": (list, None),
    "declared list": (list, numbers_type),
    "dict": (dict, None),
    "declared dict": (dict, Types.MAP(Types.STRING(), Types.INT())),
    "list in dict": (lambda: {"numbers": []}, None),
    "row": (lambda: Row("a", []), None),
    "declared row": (lambda: Row("a", []), Types.ROW([Types.STRING(), numbers_type])),
    "named row": (lambda: Row("a", []), Types.ROW_NAMED(["name", "numbers"], [Types.STRING(), numbers_type])),
    "tuple": (lambda: ("a", []), None),
    "declared tuple": (lambda: ("a", []), Types.TUPLE([Types.STRING(), numbers_type])),
    "named tuple": (lambda: Pair("a", []), None),
    "list in list": (lambda: [[]], None),
    "dataclass": (Seen, None),
    "class with slots": (Slotted, None),
    "subclass": (Numbers, None),
    "deque": (collections.deque, None),
    "array": (lambda: np.full(3, -1), None),
}


def growing(make: Callable[[], Any], *ignored: Any) -> Iterator[Any]:
    """Yield one object three times; each change comes after a yield."""
    value = make()
    for number in range(3):
        yield add(value, number)


# ---------------------------------------------------------------- operators

Env: TypeAlias = StreamExecutionEnvironment
Make: TypeAlias = Callable[[], Any]
Declared: TypeAlias = TypeInformation | None
Operator: TypeAlias = Callable[[Env, Make, Declared], DataStream]
OPERATORS: dict[str, Operator] = {}


def operator(build: Operator) -> Operator:
    """Add an operator to those that are tested."""
    OPERATORS[build.__name__] = build
    return build


def numbers(env: StreamExecutionEnvironment, *values: int) -> DataStream:
    return env.from_collection(list(values), type_info=Types.INT())


def nothing(env: StreamExecutionEnvironment) -> DataStream:
    return numbers(env, 0).filter(lambda value: value > 0)


class Ascending(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


def timed(env: StreamExecutionEnvironment) -> DataStream:
    late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(9))
    return numbers(env, 0, 1, 2).assign_timestamps_and_watermarks(late.with_timestamp_assigner(Ascending()))


def one_key(value: Any) -> int:
    return 0


class Held:
    """Holds the object between calls."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def open(self, context: Any) -> None:
        self.value = self.make()


@operator
def flat_map(env: Env, make: Make, kind: Declared) -> DataStream:
    return numbers(env, 0).flat_map(partial(growing, make), output_type=kind)


@operator
def map_that_holds(env: Env, make: Make, kind: Declared) -> DataStream:
    class Hold(Held, MapFunction):
        def map(self, value: Any) -> Any:
            return add(self.value, value)

    return numbers(env, 0, 1, 2).map(Hold(make), output_type=kind)


@operator
def map_with_dead_letters(env: Env, make: Make, kind: Declared) -> DataStream:
    class Hold(Held, MapFunction):
        def map(self, value: Any) -> Any:
            return add(self.value, value)

    return numbers(env, 0, 1, 2).map(Hold(make), output_type=kind).with_dead_letters(OutputTag("failed"))


@operator
def process(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield from growing(make)

    return numbers(env, 0).process(Yield(), output_type=kind)


@operator
def process_with_dead_letters(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield from growing(make)

    return numbers(env, 0).process(Yield(), output_type=kind).with_dead_letters(OutputTag("failed"))


@operator
def side_output(env: Env, make: Make, kind: Declared) -> DataStream:
    tag = OutputTag("side", kind)

    class Yield(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            for each in growing(make):
                yield tag, each

    return numbers(env, 0).process(Yield()).get_side_output(tag)


@operator
def side_output_of_timed(env: Env, make: Make, kind: Declared) -> DataStream:
    tag = OutputTag("side", kind)

    class Yield(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            for each in growing(make) if value == 0 else ():
                yield tag, each

    return timed(env).key_by(one_key).process(Yield()).get_side_output(tag)


@operator
def state(env: Env, make: Make, kind: Declared) -> DataStream:
    class Keep(KeyedProcessFunction):
        def open(self, context: Any) -> None:
            self.state = context.get_state(ValueStateDescriptor("kept", Types.PICKLED_BYTE_ARRAY()))

        def process_element(self, value: Any, ctx: Any) -> Any:
            kept = self.state.value()
            kept = add(make() if kept is None else kept, value)
            self.state.update(kept)
            yield kept

    return numbers(env, 0, 1, 2).key_by(one_key).process(Keep(), output_type=kind)


@operator
def map_and_list_state_of_timed(env: Env, make: Make, kind: Declared) -> DataStream:
    class Keep(KeyedProcessFunction):
        def open(self, context: Any) -> None:
            self.map = context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.PICKLED_BYTE_ARRAY()))
            self.list = context.get_list_state(ListStateDescriptor("list", Types.PICKLED_BYTE_ARRAY()))

        def process_element(self, value: Any, ctx: Any) -> Any:
            if value == 0:
                self.map.put("a", make())
            if value == 2:
                self.list.add(self.map.get("a"))
            kept = self.map.get("a") if value < 2 else next(iter(self.list.get()))
            yield add(kept, value)

    return timed(env).key_by(one_key).process(Keep(), output_type=kind)


@operator
def timers(env: Env, make: Make, kind: Declared) -> DataStream:
    class Fire(Held, KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            ctx.timer_service().register_event_time_timer(value)

        def on_timer(self, timestamp: Any, ctx: Any) -> Any:
            yield add(self.value, timestamp)

    return timed(env).key_by(one_key).process(Fire(make), output_type=kind)


@operator
def aggregate_with_early_trigger(env: Env, make: Make, kind: Declared) -> DataStream:
    class Add(AggregateFunction):
        def create_accumulator(self) -> Any:
            return make()

        def add(self, value: Any, accumulator: Any) -> Any:
            return add(accumulator, value)

        def get_result(self, accumulator: Any) -> Any:
            return accumulator

        def merge(self, a: Any, b: Any) -> Any:
            raise AssertionError

    windows = numbers(env, 0, 1, 2).key_by(one_key).window(GlobalWindows.create()).trigger(CountTrigger.of(1))
    return windows.aggregate(Add(), output_type=kind)


@operator
def window(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(ProcessWindowFunction):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            yield from growing(make)

    windows = timed(env).key_by(one_key).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    return windows.process(Yield(), output_type=kind)


@operator
def window_of_all(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(ProcessAllWindowFunction):
        def process(self, context: Any, elements: Any) -> Any:
            yield from growing(make)

    return timed(env).window_all(TumblingEventTimeWindows.of(Time.seconds(1))).process(Yield(), output_type=kind)


@operator
def co_group(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(CoGroupFunction):
        def co_group(self, first: Any, second: Any) -> Any:
            yield from growing(make)

    pair = timed(env).co_group(timed(env)).where(one_key).equal_to(one_key)
    return pair.window(TumblingEventTimeWindows.of(Time.seconds(1))).apply(Yield(), output_type=kind)


@operator
def interval_join(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(ProcessJoinFunction):
        def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
            yield from growing(make) if left == right == 0 else ()

    sides = timed(env).key_by(one_key), timed(env).key_by(one_key)
    joined = sides[0].interval_join(sides[1]).between(Time.milliseconds(0), Time.milliseconds(0))
    return joined.process(Yield(), output_type=kind)


@operator
def co_map(env: Env, make: Make, kind: Declared) -> DataStream:
    class Hold(Held, CoMapFunction):
        def map1(self, value: Any) -> Any:
            return add(self.value, value)

        def map2(self, value: Any) -> Any:
            raise AssertionError

    return numbers(env, 0, 1, 2).connect(nothing(env)).map(Hold(make), output_type=kind)


@operator
def co_flat_map(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(CoFlatMapFunction):
        def flat_map1(self, value: Any) -> Any:
            yield from growing(make)

        def flat_map2(self, value: Any) -> Any:
            raise AssertionError

    return numbers(env, 0).connect(nothing(env)).flat_map(Yield(), output_type=kind)


@operator
def co_process(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(CoProcessFunction):
        def process_element1(self, value: Any, ctx: Any) -> Any:
            yield from growing(make)

        def process_element2(self, value: Any, ctx: Any) -> Any:
            raise AssertionError

    return numbers(env, 0).connect(nothing(env)).process(Yield(), output_type=kind)


@operator
def keyed_co_process(env: Env, make: Make, kind: Declared) -> DataStream:
    class Keep(KeyedCoProcessFunction):
        def open(self, context: Any) -> None:
            self.state = context.get_state(ValueStateDescriptor("kept", Types.PICKLED_BYTE_ARRAY()))

        def process_element1(self, value: Any, ctx: Any) -> Any:
            kept = self.state.value()
            kept = add(make() if kept is None else kept, value)
            self.state.update(kept)
            yield kept

        def process_element2(self, value: Any, ctx: Any) -> Any:
            raise AssertionError

    keyed = numbers(env, 0, 1, 2).connect(nothing(env)).key_by(one_key, one_key)
    return keyed.process(Keep(), output_type=kind)


def _rules() -> MapStateDescriptor:
    return MapStateDescriptor("rules", Types.STRING(), Types.PICKLED_BYTE_ARRAY())


@operator
def broadcast(env: Env, make: Make, kind: Declared) -> DataStream:
    class Keep(BroadcastProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            raise AssertionError

        def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
            rules = ctx.get_broadcast_state(_rules())
            kept = rules.get("kept")
            kept = add(make() if kept is None else kept, value)
            rules.put("kept", kept)
            yield kept

    return nothing(env).connect(numbers(env, 0, 1, 2).broadcast(_rules())).process(Keep(), output_type=kind)


@operator
def keyed_broadcast(env: Env, make: Make, kind: Declared) -> DataStream:
    class Yield(KeyedBroadcastProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield from growing(make)

        def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
            raise AssertionError

    rules = nothing(env).broadcast(_rules())
    return numbers(env, 0).key_by(one_key).connect(rules).process(Yield(), output_type=kind)


@operator
def asynchronous(env: Env, make: Make, kind: Declared) -> DataStream:
    class Hold(AsyncFunction):
        def open(self, context: Any) -> None:
            self.value = make()

        async def async_invoke(self, value: Any) -> Any:
            return [add(self.value, value)]

        def timeout(self, value: Any) -> Any:
            raise AssertionError

    return AsyncDataStream.ordered_wait(numbers(env, 0, 1, 2), Hold(), Time.seconds(60), 1, output_type=kind)


# ---------------------------------------------------------------- what is called and copied

#: what functions of programs have noted
NOTED: list[Any] = []


class Noted:
    """A record that notes that it was copied."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __deepcopy__(self, memo: Any) -> Noted:
        NOTED.append(f"copy {self.number}")
        return Noted(self.number)


def note(what: str, value: Any, result: Any = None) -> Any:
    """Note a call; return the result, or the value."""
    NOTED.append(f"{what} {getattr(value, 'number', value)}")
    return value if result is None else result
