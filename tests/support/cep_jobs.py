"""Cases of the CEP corpus as jobs, many cases in each: every case is a branch behind the one source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.cep import Pattern
from scurry.common import Configuration
from scurry.common.watermark_strategy import WatermarkGenerator, WatermarkStrategy
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import DataStream, StreamExecutionEnvironment
from support.cep_cases import LATE, RECORDED, matches_of, pattern_of, skip_strategy

Numbered = tuple[int, Any]


class ByEvents(WatermarkGenerator):
    """Emit the watermarks that are among the events."""

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        if "wm" in event:
            output.emit_watermark(event["wm"])

    def on_periodic_emit(self, output: Any) -> None:
        pass


class Branch:
    """The functions of a case."""

    def __init__(self, number: int) -> None:
        self.number = number

    def is_of_case(self, each: Numbered) -> bool:
        return each[0] == self.number

    def numbered(self, output: Any) -> Numbered:
        return self.number, output

    def late(self, event: Any) -> Numbered:
        return self.number, {"late": event["id"]}


def time_of(event: Any, _: Any) -> int:
    return int(event.get("ts", event.get("wm")))


def is_event(event: Any) -> bool:
    return "wm" not in event


def compiled(case: dict[str, Any]) -> Pattern:
    return pattern_of(case["pattern"]["stages"], skip_strategy(case["pattern"].get("skip")))


def outputs(cases: Sequence[dict[str, Any]], runner: str, mode: str = "STREAMING") -> list[list[Any]]:
    """Return what a job emits for each case, with the key of each match; those of one key are in order."""
    configuration = Configuration()
    configuration.set_string("scurry.runner", runner)
    configuration.set_string("execution.runtime-mode", mode)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    numbered = [(number, event) for number, case in enumerate(cases) for event in case["events"]]
    source = env.from_collection(numbered)
    strategy = WatermarkStrategy.for_generator(ByEvents).with_timestamp_assigner(time_of)
    results: list[Numbered] = []
    streams: list[DataStream] = []
    for number, case in enumerate(cases):
        branch = Branch(number)
        events = source.filter(branch.is_of_case).map(lambda each: each[1])
        events = events.assign_timestamps_and_watermarks(strategy).filter(is_event)
        found = matches_of(case, compiled(case), events)
        streams += [found.get_side_output(RECORDED).map(branch.numbered), found.get_side_output(LATE).map(branch.late)]
    streams[0].union(*streams[1:])._sink(CollectSink(results.extend), "results")
    env.execute("cases")
    by_case: list[list[Any]] = [[] for _ in cases]
    for number, output in results:
        by_case[number].append(output)
    return by_case
