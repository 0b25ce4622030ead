"""Two streams: joins of intervals and of windows, and broadcast state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from scurry.common import Time, Types
from scurry.datastream import (
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    RuntimeContext,
)
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor
from scurry.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows
from scurry.testing.simulation import Endpoints, Program
from scurry.testing.simulation.machine import Machine
from support.runtime.divided_state import dividing_early
from support.simulated.records import Given, key_of, part, records, stream

BEFORE, AFTER, WIDTH = 1_000, 2_000, 3_000
LONG, SLIDE = 4_000, 1_000


class Numbers(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[str]:
        yield f"{key} {context.window().start} {sorted(number for _, number, _ in elements)}"


class Pair(ProcessJoinFunction[Any, Any, Any]):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield f"interval {left[1]} {right[1]}"


def in_window(left: Any, right: Any) -> str:
    return f"window {left[1]} {right[1]}"


def joins() -> Program:
    """Return a program that joins records by intervals and by windows: all pairs, each once."""

    def build(env: Any, source: Any, sink: Any) -> None:
        left = stream(env, part(source, 0), "left").key_by(key_of, Types.STRING())
        right = stream(env, part(source, 1), "right").key_by(key_of, Types.STRING())
        near = left.interval_join(right).between(Time.milliseconds(-BEFORE), Time.milliseconds(AFTER))
        intervals = near.process(Pair(), Types.STRING()).uid("interval join")
        windowed = left.join(right).where(key_of).equal_to(key_of)
        windows = windowed.window(TumblingEventTimeWindows.of(Time.milliseconds(WIDTH))).apply(
            in_window, Types.STRING()
        )
        intervals.union(windows).sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        left = [each for each in given if each[1][1] % 2 == 0]
        right = [each for each in given if each[1][1] % 2 == 1]
        pairs = [(a, b) for a in left for b in right if a[0] == b[0]]
        near = [f"interval {a[1][1]} {b[1][1]}" for a, b in pairs if -BEFORE <= b[2] - a[2] <= AFTER]
        same = [f"window {a[1][1]} {b[1][1]}" for a, b in pairs if a[2] // WIDTH == b[2] // WIDTH]
        return near + same

    return Program("joins", records, build, expected)


class _Divided(Endpoints):
    def active(self, machine: Machine) -> AbstractContextManager[None]:
        return dividing_early()


def divided() -> Program:
    """Return a program that joins records by intervals, with keys whose records are in parts of their state."""
    return replace(joins(), name="divided", endpoints=_Divided())


def divided_windows() -> Program:
    """Return a program of sliding windows, with keys whose open windows are in parts of their state."""

    def build(env: Any, source: Any, sink: Any) -> None:
        keyed = stream(env, source, "source").key_by(key_of, Types.STRING())
        windows = keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(LONG), Time.milliseconds(SLIDE)))
        windows.process(Numbers(), Types.STRING()).uid("windows").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        found: dict[Any, list[int]] = {}
        for key, (_, number, _), time in given:
            for start in range(time // SLIDE * SLIDE, time - LONG, -SLIDE):
                found.setdefault((key, start), []).append(number)
        return [f"{key} {start} {sorted(numbers)}" for (key, start), numbers in found.items()]

    return Program("divided_windows", records, build, expected, endpoints=_Divided())


#: When all records are known.
END = 10**12


class Keep(KeyedProcessFunction[Any, Any, Any]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.INT(), Types.INT()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.map.put(value[1], value[1])
        self.list.add(value[1])
        ctx.timer_service().register_event_time_timer(END)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        yield f"{ctx.get_current_key()} {sorted(self.map.keys())} {sorted(self.list.get() or [])}"
        self.map.clear()
        self.list.clear()


def divided_states() -> Program:
    """Return a program that keeps all records of a key in a map and in a list, which are in parts."""

    def build(env: Any, source: Any, sink: Any) -> None:
        keyed = stream(env, source, "source").key_by(key_of, Types.STRING())
        keyed.process(Keep(), Types.STRING()).uid("keep").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        found: dict[Any, list[int]] = {}
        for key, (_, number, _), _ in given:
            found.setdefault(key, []).append(number)
        return [f"{key} {sorted(numbers)} {sorted(numbers)}" for key, numbers in found.items()]

    return Program("divided_states", records, build, expected, endpoints=_Divided())


RULES = MapStateDescriptor("rules", Types.INT(), Types.INT())


class Apply(KeyedBroadcastProcessFunction[Any, Any, Any, Any]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.INT()))

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(value[1], value[1])

    def process_element(self, value: Any, ctx: Any) -> None:
        self.waiting.add(value[1])
        ctx.timer_service().register_event_time_timer(END)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        rules = ",".join(map(str, sorted(ctx.get_broadcast_state(RULES).keys())))
        for number in self.waiting.get() or []:
            yield f"{number} {rules}"


def rules() -> Program:
    """Return a program that applies all rules, which are broadcast, to all records at the end of time."""

    def build(env: Any, source: Any, sink: Any) -> None:
        given = stream(env, part(source, 0), "given").key_by(key_of, Types.STRING())
        broadcast = stream(env, part(source, 1), "rules").broadcast(RULES)
        given.connect(broadcast).process(Apply(), Types.STRING()).uid("apply").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        numbers = sorted(record[1] for _, record, _ in given)
        rules = ",".join(str(number) for number in numbers if number % 2)
        return [f"{number} {rules}" for number in numbers if number % 2 == 0]

    return Program("rules", records, build, expected)
