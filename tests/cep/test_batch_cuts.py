"""Matches do not depend on where micro-batches end, nor on savepoints, nor on the parallelism they go on with."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from scurry.cep import CEP, AfterMatchSkipStrategy, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from scurry.datastream import DataStream, OutputTag
from scurry.testing import Snapshot, TestHarness
from support.naive_matches import pattern_of, random_pattern

Event = tuple[str, str, int]
TIMED_OUT = OutputTag("timed-out")


def named(name: str) -> Any:
    return lambda event: event[1] == name


def accepts(letters: str) -> Any:
    return lambda event: event[1] in letters


def rising(event: Event, ctx: Any) -> bool:
    earlier = ctx.get_events_for_pattern("a")
    return event[1] == "a" and (not earlier or event[2] > earlier[-1][2])


PATTERNS = {
    "relaxed": lambda: Pattern.begin("a").where(named("a")).followed_by("b").where(named("b")).within(40),
    "loop": lambda: Pattern.begin("a").where(rising).one_or_more().next("b").where(named("b")).within(30),
    "skipping": lambda: (
        Pattern.begin("a", AfterMatchSkipStrategy.skip_past_last_event())
        .where(named("a"))
        .followed_by_any("b")
        .where(named("b"))
        .within(50)
    ),
    "negation": lambda: Pattern.begin("a").where(named("a")).not_followed_by("c").where(named("c")).within(20),
}


class Found(PatternProcessFunction[Event, Any], TimedOutPartialMatchHandler[Event]):
    def process_match(self, match: dict[str, list[Event]], ctx: Any) -> Iterator[Any]:
        yield [(stage, [event[2] for event in events]) for stage, events in match.items()], ctx.timestamp()

    def process_timed_out_match(self, match: dict[str, list[Event]], ctx: Any) -> Iterator[Any]:
        yield TIMED_OUT, ([(stage, [event[2] for event in events]) for stage, events in match.items()], ctx.timestamp())


class Run:
    """A job that may be stopped with a savepoint and started again."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self.results: list[Any] = []

    def start(self, parallelism: int, snapshot: Snapshot | None = None) -> TestHarness:
        def build(stream: DataStream) -> DataStream:
            return CEP.pattern(stream.key_by(lambda event: event[0]), self._pattern).process(Found())

        return TestHarness.of(build, parallelism=parallelism, snapshot=snapshot)

    def collect(self, harness: TestHarness) -> None:
        self.results += [(record.value, record.timestamp) for record in harness.records()]
        self.results += [("timed out", *each) for each in harness.side_output(TIMED_OUT)]


def steps(chance: random.Random, names: str, count: int) -> list[Event | int]:
    """Events out of order, and watermarks between them."""
    result: list[Event | int] = []
    for number in range(count):
        result.append((chance.choice("klmn"), chance.choice(names), number * 3 + chance.randrange(12)))
        if chance.random() < 0.2:
            result.append(number * 3)
    return result


def feed(harness: TestHarness, step: Event | int) -> None:
    if isinstance(step, int):
        harness.advance_watermark(step)
    else:
        harness.process(step, step[2])


def undisturbed_results(pattern: Pattern, inputs: list[Event | int]) -> list[Any]:
    """Return what one micro-batch with all inputs emits."""
    run = Run(pattern)
    with run.start(1) as harness:
        with harness.batch():
            for step in inputs:
                feed(harness, step)
            harness.end_input()
        run.collect(harness)
    return run.results


def disturbed_results(pattern: Pattern, inputs: list[Event | int], chance: random.Random) -> list[Any]:
    """Return what micro-batches of one input each emit, with savepoints between them."""
    run = Run(pattern)
    harness = run.start(2)
    for step in inputs:
        feed(harness, step)
        if chance.random() < 0.05:
            snapshot = harness.snapshot()
            run.collect(harness)
            harness.close()
            harness = run.start(chance.choice([1, 2, 3]), snapshot)
    harness.end_input()
    run.collect(harness)
    harness.close()
    return run.results


@pytest.mark.parametrize("name", PATTERNS)
def test_batch_cuts_savepoints_and_parallelism_change_nothing(name: str) -> None:
    chance = random.Random(name)
    inputs = steps(chance, "aabcx", 120)
    expected = undisturbed_results(PATTERNS[name](), inputs)
    assert expected
    assert sorted(map(repr, disturbed_results(PATTERNS[name](), inputs, chance))) == sorted(map(repr, expected))


@pytest.mark.parametrize("seed", range(12))
def test_nor_do_they_for_random_patterns(seed: int) -> None:
    chance = random.Random(seed)
    naive = random_pattern(chance)
    pattern = pattern_of(replace(naive, window=naive.window and naive.window * 4), accepts)
    inputs = steps(chance, "abcx", 60)
    expected = undisturbed_results(pattern, inputs)
    assert sorted(map(repr, disturbed_results(pattern, inputs, chance))) == sorted(map(repr, expected)), naive
