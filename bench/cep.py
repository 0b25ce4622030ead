"""Patterns on Spark at parallelism 2: `a followed_by b within 10 s` of 1,000 keys, next to Flink's Java library.

    python bench/cep.py [EVENTS] [ROUNDS]
    python bench/cep.py state                 batches that touch 1,000 of 10 k and of 1 M keys with partial matches

The events are those of `CepOracle bench` (`shared/conformance/cep`): every key sees a, x, x, b in turn, one event a
millisecond. If SCURRY_CEP_ORACLE is the command that runs CepOracle (its `env.sh` sets CEP_JAVA), it is measured, too.
"""

from __future__ import annotations

import os
import random
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from scurry.cep import CEP, Pattern
from scurry.common import Configuration, Duration
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.connectors.sink import DiscardSink
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.testing import TestHarness

KEYS = 1_000
RUNNER = os.environ.get("SCURRY_RUNNER", "spark")
#: in this process nothing but its own time counts, whatever else the machine does
CLOCK = time.process_time if RUNNER == "local" else time.perf_counter
Event = tuple[str, str, int]


def event(number: int, events: int) -> Event:
    """Return an event: name, key and time; both halves of the input, which are read side by side, cover all of it."""
    number = number % (events // 2) * 2 + number // (events // 2)
    turn = number // KEYS % 4
    return "a" if turn == 0 else "b" if turn == 3 else "x", f"k{number % KEYS}", number


def named(name: str) -> Callable[[Event], bool]:
    """Return the condition that an event has a name."""
    return lambda each: each[0] == name


def a_then_b(first: str = "a") -> Pattern:
    """Return the pattern."""
    begin = Pattern.begin("a").where(named(first))
    return begin.followed_by("b").where(named("b")).within(Duration.of_seconds(10))


def matches(stream: DataStream) -> DataStream:
    """Find the pattern, which one event in four begins."""
    return CEP.pattern(stream, a_then_b()).select(lambda match: match["b"][0][2])


def no_matches(stream: DataStream) -> DataStream:
    """Look for a pattern that never begins."""
    return CEP.pattern(stream, a_then_b("nothing")).select(lambda match: match["b"][0][2])


def keyed_filter(stream: DataStream) -> DataStream:
    """Filter, for comparison."""
    return stream.filter(lambda each: each[0] == "nothing")


def seconds(program: Callable[[DataStream], DataStream], events: int) -> float:
    """Run a program; return how long that took."""
    configuration = Configuration()
    configuration.set_string("scurry.runner", RUNNER)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    strategy = strategy.with_timestamp_assigner(lambda each, _: each[2])
    numbers = env.from_source(NumberSequenceSource(0, events - 1), WatermarkStrategy.no_watermarks(), "numbers")
    stream = numbers.map(lambda number: event(number, events)).assign_timestamps_and_watermarks(strategy)
    program(stream.key_by(lambda each: each[1]))._sink(DiscardSink(), "nothing")
    begin = CLOCK()
    env.execute("cep")
    return CLOCK() - begin


def throughput(events: int, rounds: int) -> None:
    """Measure the programs in turn."""
    programs = (matches, no_matches, keyed_filter)
    seconds(matches, 10_000)
    found: dict[str, list[float]] = {program.__name__: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            found[program.__name__].append(seconds(program, events))
    median = {name: statistics.median(times) for name, times in found.items()}
    for name, took in median.items():
        print(f"{name}: {events / took:,.0f} events/s  {[round(each, 2) for each in found[name]]}", flush=True)
    print(f"no match begins / keyed filter: {median['no_matches'] / median['keyed_filter']:.2f} (at most 1.5)")
    oracle = os.environ.get("SCURRY_CEP_ORACLE")
    if oracle:
        subprocess.run([*shlex.split(oracle), "bench", str(events), str(KEYS), "2"], check=True)


def state() -> None:
    """Measure batches that touch 1,000 keys of few and of many with partial matches."""

    def touched(keys: int) -> float:
        def build(events: DataStream) -> DataStream:
            stream = events.flat_map(lambda some: some)  # a record is many events, since records are fed one by one
            return CEP.pattern(stream.key_by(lambda each: each[1]), a_then_b()).select(len)

        with TestHarness.of(build) as harness:
            with harness.batch():
                harness.process([("a", f"k{number}", 1) for number in range(keys)], 1)
                harness.advance_watermark(1)
            chance, took = random.Random(1), []
            for now in range(1_000, 1_005):
                chosen = chance.sample(range(keys), 1_000)
                start = time.process_time()
                with harness.batch():
                    harness.process([("x", f"k{number}", 1) for number in chosen], now)
                    harness.advance_watermark(now)
                took.append(time.process_time() - start)
            return statistics.median(took)

    few, many = touched(10_000), touched(1_000_000)
    print(f"1,000 of 10 k keys: {few:.3f} s, of 1 M keys: {many:.3f} s: {many / few:.1f} x (at most 3)")


def main() -> None:
    """Run what was asked for."""
    arguments: list[Any] = sys.argv[1:]
    if arguments == ["state"]:
        state()
    else:
        throughput(*(int(each) for each in arguments or (1_000_000, 3)))


if __name__ == "__main__":
    main()
