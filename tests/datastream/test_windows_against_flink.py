"""Joins, evictors and triggers against what Flink's Java API gave for the same elements.

`WindowOracle.java` next to the recording says what each scenario is. Elements are (key, timestamp, number, side).
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, WatermarkStrategy
from scurry.common.time import Duration
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import (
    AggregateFunction,
    DataStream,
    ProcessJoinFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream.window import (
    ContinuousEventTimeTrigger,
    CountEvictor,
    CountTrigger,
    DeltaEvictor,
    DeltaTrigger,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindows,
    ProcessingTimeoutTrigger,
    SlidingEventTimeWindows,
    TimeEvictor,
    TumblingEventTimeWindows,
)

FIXTURES = Path(__file__).parent.parent / "fixtures" / "flink" / "windows"

WINDOWS: dict[str, Any] = {
    "tumbling": TumblingEventTimeWindows.of(20),
    "sliding": SlidingEventTimeWindows.of(20, 10),
    "session": EventTimeSessionWindows.with_gap(4),
    "global": GlobalWindows.create(),
}


def recorded() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for line in (FIXTURES / "WindowOracle.expected").read_text().splitlines():
        scenario, _, result = line.partition("\t")
        found[scenario].append(result)
    return found


def elements() -> list[Any]:
    rows = [line.split(",") for line in (FIXTURES / "elements.csv").read_text().splitlines()]
    return [(key, int(time), int(number), int(side)) for key, time, number, side in rows]


class Times(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


def key(element: Any) -> Any:
    return element[0]


def numbers(some: Any) -> str:
    return " ".join(str(element[2]) for element in some)


def distance(one: Any, two: Any) -> Any:
    return abs(one[2] - two[2])


def end_of(window: Any) -> Any:
    return "-" if window.max_timestamp() == 2**63 - 1 else window.max_timestamp()


class Show(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield f"{key} {end_of(context.window())}: {numbers(elements)}"


class ShowSum(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        for element in elements:
            yield f"{key} {end_of(context.window())}: {element}"


class Sum(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + int(value[2])

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class OddOnly(Evictor[Any]):
    """Drops elements with even numbers before the function, and all but the last two after it."""

    def evict_before(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        elements[:] = [element for element in elements if element.value[2] % 2]

    def evict_after(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        del elements[:-2]


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        times = ctx.get_left_timestamp(), ctx.get_right_timestamp(), ctx.get_timestamp()
        yield " ".join(map(str, (left[2], right[2], *times)))


def window_joins(first: DataStream, second: DataStream) -> dict[str, DataStream]:
    found = {}
    for kind in ("tumbling", "sliding", "session"):
        pairs = first.join(second).where(key).equal_to(key).window(WINDOWS[kind])
        found[f"join {kind}"] = pairs.apply(lambda one, two: f"{one[2]} {two[2]}")
        groups = first.co_group(second).where(key).equal_to(key).window(WINDOWS[kind])
        found[f"co_group {kind}"] = groups.apply(lambda ones, twos: [f"{numbers(ones)} | {numbers(twos)}"])
    return found


def interval_joins(first: DataStream, second: DataStream) -> dict[str, DataStream]:
    found = {}
    bounds = [(-5, 5, 0), (0, 3, 0), (-8, -2, 0), (2, 9, 0), (-5, 5, 1), (-5, 5, 2), (-5, 5, 3), (4, 4, 0), (4, 4, 1)]
    for lower, upper, exclusive in bounds:
        interval = Duration.of_millis(lower), Duration.of_millis(upper)
        joined = first.key_by(key).interval_join(second.key_by(key)).in_event_time().between(*interval)
        if exclusive & 1:
            joined = joined.lower_bound_exclusive()
        if exclusive & 2:
            joined = joined.upper_bound_exclusive()
        found[f"interval_join {lower} {upper} {exclusive}"] = joined.process(Pair())
    return found


def evictors(stream: DataStream) -> dict[str, DataStream]:
    found = {}
    for kind, assigner in WINDOWS.items():
        for after in (False, True):
            made: dict[str, Any] = {
                "count 2": CountEvictor.of(2, after),
                "count 0": CountEvictor.of(0, after),
                "time 5": TimeEvictor.of(Duration.of_millis(5), after),
                "delta 4": DeltaEvictor.of(4, distance, after),
            }
            for name, evictor in made.items():
                windowed = stream.key_by(key).window(assigner).evictor(evictor)
                if kind != "tumbling":
                    windowed = windowed.trigger(CountTrigger.of(3))
                name = f"{kind} {name} {'after' if after else 'before'}"
                found[f"process {name}"] = windowed.process(Show())
                if kind == "global":
                    found[f"aggregate {name}"] = windowed.aggregate(Sum(), ShowSum())
                    found[f"reduce {name}"] = windowed.reduce(lambda a, b: (*a[:2], a[2] + b[2], a[3]), Show())
    return found


def triggers(stream: DataStream) -> dict[str, DataStream]:
    keyed = stream.key_by(key)
    everything, tumbling = keyed.window(GlobalWindows.create()), WINDOWS["tumbling"]
    every_third = keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(3))
    timeout = ProcessingTimeoutTrigger.of(CountTrigger.of(2), Duration.of_hours(1))
    return {
        "custom evictor": every_third.evictor(OddOnly()).process(Show()),
        "delta trigger": everything.trigger(DeltaTrigger.of(2.5, distance)).process(Show()),
        "end of stream": keyed.window(GlobalWindows.create_with_end_of_stream_trigger()).process(Show()),
        "continuous": keyed.window(tumbling).trigger(ContinuousEventTimeTrigger.of(6)).process(Show()),
        "timeout": keyed.window(tumbling).trigger(timeout).process(Show()),
    }


def run(mode: str, parallelism: int, joins_only: bool = False) -> dict[str, list[str]]:
    """The results of all scenarios, from one job."""
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    configuration.set_string("execution.runtime-mode", mode)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    stream = env.from_collection(elements()).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Times()))
    first, second = stream.filter(lambda element: element[3] == 0), stream.filter(lambda element: element[3] == 1)
    streams = {**window_joins(first, second), **interval_joins(first, second)}
    if not joins_only:
        streams |= {**evictors(stream), **triggers(stream)}
    results: dict[str, list[str]] = {}
    for name, results_of in streams.items():
        results[name] = []
        results_of._sink(CollectSink(results[name].extend), name)
    env.execute("windows")
    return results


#: A reduce over nothing: Flink emits null, scurry nothing (docs/differences.md).
REDUCED_TO_NOTHING = ("reduce to nothing", "reduce global count 0 before")

#: Where Flink's order of elements within a result follows from a hash table or from sorting.
IN_ANY_ORDER = ("co_group session", "end of stream")


def in_any_order(results: list[str]) -> list[str]:
    return sorted(" | ".join(" ".join(sorted(side.split())) for side in result.split("|")) for result in results)


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_streaming_gives_what_flink_gives(parallelism: int) -> None:
    expected, results = recorded(), run("STREAMING", parallelism)
    assert results.pop("reduce global count 0 before") == []
    for scenario in REDUCED_TO_NOTHING:
        expected.pop(scenario, None)
    for scenario in IN_ANY_ORDER:
        assert in_any_order(results.pop(scenario)) == in_any_order(expected.pop(scenario))
    assert {name: sorted(found) for name, found in results.items() if found} == {
        name: sorted(found) for name, found in expected.items()
    }


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_batch_joins_give_what_flink_gives(parallelism: int) -> None:
    def comparable(found: dict[str, list[str]]) -> dict[str, list[str]]:
        return {
            name: in_any_order(results) if "co_group" in name else sorted(results)
            for name, results in found.items()
            if results and ("join" in name or "co_group" in name)
        }

    assert comparable(run("BATCH", parallelism, joins_only=True)) == comparable(recorded())
