"""Programs whose output is known: they have each kind of state and time that a fault could lose or repeat."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from scurry.common import Duration, Time, Types, WatermarkStrategy
from scurry.datastream import (
    KeyedProcessFunction,
    OutputTag,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from scurry.testing.simulation.parts import SimulatedSink, SimulatedSource
from scurry.testing.simulation.programs import Program

__all__ = ["counts", "sessions", "timers", "windows"]

Given = list[tuple[Any, Any, int]]

#: The most that records are out of order, the width of windows and the gap of sessions, in milliseconds.
_OUT_OF_ORDER, _WIDTH, _GAP = 2_000, 3_000, 2_500
_KEYS = "abcd"
_RECORD = Types.TUPLE([Types.STRING(), Types.INT()])
_NUMBERED = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()])


def _records(count: int, chance: random.Random) -> Given:
    """Return records of some keys, out of order within bounds."""
    found: Given = []
    for number in range(count):
        key = chance.choice(_KEYS)
        found.append((key, (key, number), number * 500 + chance.randint(0, _OUT_OF_ORDER - 1)))
    return found


def _strategy() -> WatermarkStrategy:
    return WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(_OUT_OF_ORDER))


def _stream(env: StreamExecutionEnvironment, source: SimulatedSource) -> Any:
    env.get_config().set_auto_watermark_interval(1)
    return env.from_source(source, _strategy(), "source", _RECORD).uid("source").key_by(lambda r: r[0], Types.STRING())


class _Count(KeyedProcessFunction[Any, Any, Any]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        yield value[0], value[1], count


def counts() -> Program:
    """Return a program that counts the records of each key: a state that is lost or used twice shows in all after."""

    def build(env: StreamExecutionEnvironment, source: SimulatedSource, sink: SimulatedSink) -> None:
        _stream(env, source).process(_Count(), _NUMBERED).uid("counts").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        seen: Counter[str] = Counter()
        found = []
        for key, record, _ in given:
            seen[key] += 1
            found.append((*record, seen[key]))
        return found

    return Program("counts", _records, build, expected)


class _Timers(KeyedProcessFunction[Any, Any, Any]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self._waiting = runtime_context.get_state(ValueStateDescriptor("waiting", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> None:
        self._waiting.update((self._waiting.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10_000 + value[1])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        assert ctx.timer_service().current_watermark() >= timestamp, "a timer fires before its time"
        waiting = self._waiting.value()
        assert waiting, "a timer fires twice, or its state is lost"
        self._waiting.update(waiting - 1)
        yield ctx.get_current_key(), timestamp, 0


def timers() -> Program:
    """Return a program that sets a timer for each record, and emits a record when it fires."""

    def build(env: StreamExecutionEnvironment, source: SimulatedSource, sink: SimulatedSink) -> None:
        _stream(env, source).process(_Timers(), _NUMBERED).uid("timers").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        # a key has one timer of a time
        return sorted({(key, time + 10_000 + record[1], 0) for key, record, time in given})

    return Program("timers", _records, build, expected)


class _Numbers(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        numbers = ",".join(str(number) for _, number in sorted(elements))
        yield f"{key} {context.window().start} {context.window().end} {numbers}"


def _windowed(assigner: Any) -> Any:
    def build(env: StreamExecutionEnvironment, source: SimulatedSource, sink: SimulatedSink) -> None:
        late = OutputTag("late", _RECORD)
        windows = _stream(env, source).window(assigner()).side_output_late_data(late)
        fired = windows.process(_Numbers(), Types.STRING()).uid("windows")
        dropped = fired.get_side_output(late).map(lambda r: f"late {r}", Types.STRING()).uid("late")
        fired.union(dropped).sink_to(sink).uid("sink")

    return build


def _window_lines(windows: dict[tuple[str, int, int], list[int]]) -> list[Any]:
    return [f"{key} {start} {end} {','.join(map(str, sorted(of)))}" for (key, start, end), of in windows.items()]


def windows() -> Program:
    """Return a program of tumbling windows: no record is late, and each window fires once with all of its records."""

    def expected(given: Given) -> list[Any]:
        found: dict[tuple[str, int, int], list[int]] = {}
        for key, (_, number), time in given:
            start = time - time % _WIDTH
            found.setdefault((key, start, start + _WIDTH), []).append(number)
        return _window_lines(found)

    return Program(
        "windows", _records, _windowed(lambda: TumblingEventTimeWindows.of(Time.milliseconds(_WIDTH))), expected
    )


def sessions() -> Program:
    """Return a program of session windows, which merge."""

    def expected(given: Given) -> list[Any]:
        found: dict[tuple[str, int, int], list[int]] = {}
        for key in sorted({key for key, _, _ in given}):
            start = end = None
            numbers: list[int] = []
            for time, number in sorted((time, record[1]) for k, record, time in given if k == key):
                if end is not None and start is not None and time > end:
                    found[key, start, end] = numbers
                    start, numbers = None, []
                start = time if start is None else start
                end = time + _GAP
                numbers = [*numbers, number]
            if start is not None and end is not None:
                found[key, start, end] = numbers
        return _window_lines(found)

    build = _windowed(lambda: EventTimeSessionWindows.with_gap(Time.milliseconds(_GAP)))
    return Program("sessions", _records, build, expected)
