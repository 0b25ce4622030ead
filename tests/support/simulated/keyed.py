"""State that expires, and calls of async functions before state."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from scurry.common import Time, Types
from scurry.connectors.hybrid import HybridSource
from scurry.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
)
from scurry.datastream.state import StateTtlConfig, ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.testing.simulation import Program
from scurry.testing.simulation.machine import running_machine
from support.simulated.records import TIMED, Given, key_of, records, strategy, stream

#: Milliseconds that state lives. A micro-batch takes less, unless the clock jumps.
TTL = 400
SLACK = 300
#: Operations after a jump of the clock in which records may be processed that were read before it, by the time then.
JUST_NOW = 20
#: Milliseconds of a window.
WIDTH = 3_000


class Remember(KeyedProcessFunction[Any, Any, Any]):
    def open(self, runtime_context: RuntimeContext) -> None:
        lasting = ValueStateDescriptor("lasting", Types.PICKLED_BYTE_ARRAY())
        expiring = ValueStateDescriptor("expiring", Types.INT())
        expiring.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(TTL)).build())
        self.lasting = runtime_context.get_state(lasting)
        self.expiring = runtime_context.get_state(expiring)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        machine = running_machine()
        jumped = any(fault.kind == "clock" and machine.operations - fault.at < JUST_NOW for fault in machine.dealt)
        now = None if jumped or machine.clock.is_behind else int(time.time() * 1000)
        before = self.lasting.value()
        found = self.expiring.value()
        self.lasting.update((value[1], now))
        self.expiring.update(value[1])
        age = None if before is None or before[1] is None or now is None else now - before[1]
        yield value[0], value[1], None if before is None else before[0], found, age


OUTPUT = Types.PICKLED_BYTE_ARRAY()


def expiring() -> Program:
    """Return a program with state that expires beside state that does not: it is there as long as it lives."""

    def build(env: Any, source: Any, sink: Any) -> None:
        keyed = stream(env, source).key_by(key_of, Types.STRING())
        keyed.process(Remember(), OUTPUT).uid("remember").sink_to(sink).uid("sink")

    def check(given: Given, output: list[Any]) -> None:
        last: dict[str, int] = {}
        befores = {}
        for key, record, _ in given:
            befores[record[1]] = (key, last.get(key))
            last[key] = record[1]
        found = Counter((number, key, before) for key, number, before, _, _ in output)
        expected = Counter((number, key, before) for number, (key, before) in befores.items())
        assert found == expected, f"lost: {expected - found}, twice or wrong: {found - expected}"
        for key, number, before, held, age in output:
            assert held in (None, before), f"{key} {number}: {held} instead of {before}"
            if age is not None and age > TTL + SLACK:
                assert held is None, f"{key} {number}: the state is there after {age} ms"
            if age is not None and 0 <= age < TTL - SLACK:
                assert held is not None, f"{key} {number}: the state has expired after {age} ms"

    return Program("expiring", records, build, lambda given: [], check)


class Ask(AsyncFunction[Any, Any]):
    async def async_invoke(self, value: Any) -> list[Any]:
        machine = running_machine()
        await asyncio.sleep(machine.chance.random())
        machine.operation("await", f"{value}")
        await asyncio.sleep(machine.chance.random())
        return [value]

    def timeout(self, value: Any) -> list[Any]:
        raise AssertionError(f"{value} takes more than 2 s")


class Count(KeyedProcessFunction[Any, Any, Any]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], value[1], count


def running_counts(given: Given) -> list[Any]:
    """Return each record with the number of those of its key so far."""
    seen: Counter[str] = Counter()
    found = []
    for key, record, _ in given:
        seen[key] += 1
        found.append((record[0], record[1], seen[key]))
    return found


COUNTED = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()])


def overlapping() -> Program:
    """Return a program whose calls of an async function overlap; their results are in order."""

    def build(env: Any, source: Any, sink: Any) -> None:
        asked = AsyncDataStream.ordered_wait(stream(env, source), Ask(), Time.seconds(2), 3, TIMED)
        counted = asked.key_by(key_of, Types.STRING()).process(Count(), COUNTED).uid("counts")
        counted.sink_to(sink).uid("sink")

    return Program("overlapping", records, build, running_counts)


def hybrid() -> Program:
    """Return a program that counts the records of a source and then those of another one."""

    def build(env: Any, source: Any, sink: Any) -> None:
        half = len(source.records) // 2
        first, second = replace(source, records=source.records[:half]), replace(source, records=source.records[half:])
        both = env.from_source(HybridSource([first, second]), strategy(), "source", TIMED).uid("source")
        both.key_by(key_of, Types.STRING()).process(Count(), COUNTED).uid("counts").sink_to(sink).uid("sink")

    return Program("hybrid", records, build, running_counts)


class Numbers(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        yield f"{key} {context.window().start} {sorted(number for _, number, _ in elements)}"


def enriched() -> Program:
    """Return a program of windows over results of an async function: none of them is late."""

    def build(env: Any, source: Any, sink: Any) -> None:
        asked = AsyncDataStream.unordered_wait(stream(env, source), Ask(), Time.seconds(2), 3, TIMED)
        windows = asked.key_by(key_of, Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(WIDTH)))
        windows.process(Numbers(), Types.STRING()).uid("windows").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        found: dict[Any, list[int]] = defaultdict(list)
        for key, record, at in given:
            found[key, at // WIDTH * WIDTH].append(record[1])
        return [f"{key} {start} {sorted(of)}" for (key, start), of in found.items()]

    return Program("enriched", records, build, expected)


def passed() -> Program:
    """Return a program that passes records on without an exchange: those of a key in their order."""

    def build(env: Any, source: Any, sink: Any) -> None:
        stream(env, source).map(same, TIMED).uid("same").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        return [record for _, record, _ in given]

    def check(given: Given, output: list[Any]) -> None:
        for key in {key for key, _, _ in given}:
            own, wanted = ([each for each in some if each[0] == key] for some in (output, expected(given)))
            assert own == wanted, f"{key}: {own} instead of {wanted}"

    return Program("passed", records, build, expected, check)


class Pass(KeyedProcessFunction[Any, Any, Any]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.seen.update((self.seen.value() or 0) + 1)
        yield value


def same(value: Any) -> Any:
    return value


def evolving() -> Program:
    """Return a program whose later versions have further operators, without state and with it, before and behind."""

    def version(number: int) -> Any:
        def build(env: Any, source: Any, sink: Any) -> None:
            given = stream(env, source)
            if number & 1:
                given = given.map(same, TIMED).uid("before")
            counted = given.key_by(key_of, Types.STRING()).process(Count(), COUNTED).uid("counts")
            if number & 2:
                counted = counted.key_by(key_of, Types.STRING()).process(Pass(), COUNTED).uid("behind")
            counted.sink_to(sink).uid("sink")

        return build

    versions = (version(1), version(2), version(3))
    dropped = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    return Program("evolving", records, version(0), running_counts, settings=dropped, versions=versions)
