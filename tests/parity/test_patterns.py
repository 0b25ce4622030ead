"""Patterns give the same matches on every runner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.cep import CEP, AfterMatchSkipStrategy, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.datastream import DataStream, OutputTag, StreamExecutionEnvironment
from support.runners import Runner

Event = tuple[str, str, int]
TIMED_OUT = OutputTag("timed-out")


class Found(PatternProcessFunction[Event, Any], TimedOutPartialMatchHandler[Event]):
    def process_match(self, match: dict[str, list[Event]], ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), [event[2] for events in match.values() for event in events], ctx.timestamp()

    def process_timed_out_match(self, match: dict[str, list[Event]], ctx: Any) -> Iterator[Any]:
        yield TIMED_OUT, ([event[2] for events in match.values() for event in events], ctx.timestamp())


def alarms(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
    def higher(event: Event, ctx: Any) -> bool:
        return event[1] == "b" and event[2] > sum(each[2] for each in ctx.get_events_for_pattern("a")) / 10

    events = [(f"k{number % 7}", "axb"[number % 3 if number % 11 else 0], number) for number in range(400)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[2])
    stream = env.from_collection(events).assign_timestamps_and_watermarks(strategy)
    begin = Pattern.begin("a", AfterMatchSkipStrategy.skip_to_next()).where(lambda event: event[1] == "a")
    pattern = begin.one_or_more().followed_by("b").where(higher).within(60)
    found = CEP.pattern(stream.key_by(lambda event: event[0]), pattern).process(Found())
    all_events = Pattern.begin("x").where(lambda event: event[1] == "x").times(3)
    together = CEP.pattern(stream, all_events).select(lambda match: [event[2] for event in match["x"]])
    return {"matches": found, "timed out": found.get_side_output(TIMED_OUT), "without keys": together}


def in_any_order(results: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: sorted(each) for name, each in results.items()}


def test_matches_and_time_outs_are_the_same(runner: Runner) -> None:
    expected = in_any_order(Runner("local", "STREAMING").run(alarms))
    assert all(expected.values())
    assert in_any_order(runner.run(alarms, parallelism=2)) == expected
