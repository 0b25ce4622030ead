"""Which variant of an operator the planner chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.common.output_tag import OutputTag
from scurry.common.time import Time
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.window import (
    CountEvictor,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from scurry.datastream.window.triggers import CountTrigger
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan
from scurry.testing import job_plan_of, plan_of

MILLIS = Time.milliseconds


class Itself(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


def plan(build: Callable[[DataStream], DataStream], strategy: WatermarkStrategy | None = None) -> JobPlan:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    stream = env.from_collection([1, 2])
    if strategy is not None:
        plan_of(stream).watermark_strategy = strategy  # type: ignore[attr-defined]
    build(stream).print()
    return job_plan_of(env, "variants")


def planned(build: Callable[[DataStream], DataStream]) -> ops.Operator:
    return next(iter(plan(build).operators.values())).operator


def windows(assigner: Any, trigger: Any = None, evictor: Any = None, lateness: int = 0) -> ops.Operator:
    def build(stream: DataStream) -> DataStream:
        windowed = stream.key_by(lambda value: value).window(assigner)
        if trigger is not None:
            windowed = windowed.trigger(trigger)
        if evictor is not None:
            windowed = windowed.evictor(evictor)
        if lateness:
            windowed = windowed.allowed_lateness(lateness)
        return windowed.reduce(max)

    return planned(build)


TUMBLING = TumblingEventTimeWindows.of(MILLIS(10))
SESSIONS = EventTimeSessionWindows.with_gap(MILLIS(10))


@pytest.mark.parametrize(
    ("operator", "variant"),
    [
        (windows(TUMBLING), ops.AlignedWindow),
        (windows(SlidingEventTimeWindows.of(MILLIS(10), MILLIS(5))), ops.AlignedWindow),
        (windows(SESSIONS), ops.SessionWindow),
        (windows(TUMBLING, evictor=CountEvictor.of(1)), ops.EvictingWindow),
        (windows(SESSIONS, evictor=CountEvictor.of(1)), ops.EvictingWindow),
        (windows(TUMBLING, lateness=1), ops.Window),
        (windows(SESSIONS, lateness=1), ops.Window),
        (windows(TUMBLING, trigger=CountTrigger.of(2)), ops.Window),
        (windows(TumblingProcessingTimeWindows.of(MILLIS(10))), ops.Window),
    ],
)
def test_windows_that_fire_once_and_windows_with_an_evictor_have_variants(
    operator: ops.Operator, variant: type[ops.Operator]
) -> None:
    assert type(operator) is variant


def test_a_map_has_a_variant_with_dead_letters() -> None:
    assert type(planned(lambda stream: stream.map(abs))) is ops.Map
    with_letters = planned(lambda stream: stream.map(abs).with_dead_letters(OutputTag("failed")))
    assert type(with_letters) is ops.MapOrDeadLetter


def test_variants_have_the_kind_of_their_operator_which_savepoints_contain() -> None:
    assert windows(TUMBLING).kind == windows(SESSIONS, lateness=1).kind == "Window"
    assert planned(lambda stream: stream.map(abs).with_dead_letters(OutputTag("failed"))).kind == "Map"


@pytest.mark.parametrize(
    ("strategy", "assigns"),
    [
        (None, False),
        (WatermarkStrategy.no_watermarks(), False),
        (WatermarkStrategy.no_watermarks().with_timestamp_assigner(Itself()), True),
        (WatermarkStrategy.for_monotonous_timestamps(), True),
    ],
)
def test_a_source_assigns_timestamps_if_its_strategy_says_how_or_generates_watermarks(
    strategy: WatermarkStrategy | None, assigns: bool
) -> None:
    planned = plan(lambda stream: stream.map(abs), strategy)
    (source,) = planned.sources.values()
    assert (source.assigner is not None) is assigns
    assert source.id not in planned.operators, "the assigner is part of the source"
