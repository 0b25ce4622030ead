from __future__ import annotations

import datetime
import pickle
from typing import Any

import pytest

from scurry.common import Duration, WatermarkStrategy
from scurry.common.watermark_strategy import (
    AscendingTimestampsWatermarks,
    BoundedOutOfOrdernessWatermarks,
    NoWatermarks,
    TimestampAssigner,
    Watermark,
    WatermarkGenerator,
    WatermarkOutput,
)


class Output:
    def __init__(self) -> None:
        self.seen: list[int] = []

    def emit_watermark(self, watermark: Watermark | int) -> None:
        self.seen.append(watermark if isinstance(watermark, int) else watermark.timestamp)

    def mark_idle(self) -> None: ...

    def mark_active(self) -> None: ...


class First(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[0])


class EveryTenth(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        if event_timestamp % 10 == 0:
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None: ...


def watermarks(generator: WatermarkGenerator, *timestamps: int) -> list[int]:
    output = Output()
    for timestamp in timestamps:
        generator.on_event(None, timestamp, output)
        generator.on_periodic_emit(output)
    return output.seen


def test_bounded_watermark_stays_behind_the_highest_timestamp() -> None:
    assert watermarks(BoundedOutOfOrdernessWatermarks(Duration.of_millis(5)), 100, 90, 110) == [94, 94, 104]


def test_ascending_watermark_is_just_below_the_highest_timestamp() -> None:
    assert watermarks(AscendingTimestampsWatermarks(), 100, 101) == [99, 100]


def test_no_watermark_before_the_first_record() -> None:
    output = Output()
    AscendingTimestampsWatermarks().on_periodic_emit(output)
    assert output.seen == []


def test_watermark_cannot_fall_below_the_smallest_number() -> None:
    assert watermarks(BoundedOutOfOrdernessWatermarks(5), -(2**63) + 1) == [-(2**63)]


def test_no_watermarks_emits_none() -> None:
    assert watermarks(NoWatermarks(), 100) == []


def test_strategies_tell_the_runtime_what_they_are() -> None:
    assert WatermarkStrategy.for_monotonous_timestamps().max_out_of_orderness_ms == 0
    assert WatermarkStrategy.for_bounded_out_of_orderness(datetime.timedelta(seconds=2)).max_out_of_orderness_ms == 2000
    assert WatermarkStrategy.no_watermarks().max_out_of_orderness_ms is None
    assert WatermarkStrategy.for_generator(EveryTenth).max_out_of_orderness_ms is None


def test_each_generator_is_new() -> None:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(3)
    assert watermarks(strategy.create_generator(), 100) == [96]
    assert watermarks(strategy.create_generator(), 50) == [46]


def test_own_generators_may_emit_on_events() -> None:
    assert watermarks(WatermarkStrategy.for_generator(EveryTenth).create_generator(), 9, 10, 11) == [10]


def test_refinements_add_up_in_any_order() -> None:
    assigner = First()
    strategy = (
        WatermarkStrategy.for_monotonous_timestamps()
        .with_timestamp_assigner(assigner)
        .with_idleness(Duration.of_seconds(5))
        .with_watermark_alignment("group", Duration.of_seconds(20))
    )
    assert strategy.timestamp_assigner is assigner
    assert strategy.idle_timeout_ms == 5000
    assert strategy.alignment == ("group", 20_000, 1000)


def test_refining_leaves_the_strategy_alone() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    strategy.with_idleness(5)
    assert strategy.idle_timeout_ms is None


def test_first_assigner_also_holds_where_it_was_set_as_in_pyflink() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    first, second = First(), First()
    strategy.with_timestamp_assigner(first)
    other = strategy.with_timestamp_assigner(second)
    assert (strategy.timestamp_assigner, other.timestamp_assigner) == (first, second)


def test_assigner_may_be_a_function() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    assert callable(strategy.timestamp_assigner)
    with pytest.raises(TypeError, match="TimestampAssigner"):
        strategy.with_timestamp_assigner(5)  # type: ignore[arg-type]


def test_impossible_times_are_refused() -> None:
    strategy = WatermarkStrategy.no_watermarks()
    with pytest.raises(ValueError, match="max_out_of_orderness must not be negative"):
        WatermarkStrategy.for_bounded_out_of_orderness(-1)
    with pytest.raises(ValueError, match="idle_timeout must be above 0"):
        strategy.with_idleness(0)
    with pytest.raises(ValueError, match="drift must not be negative"):
        strategy.with_watermark_alignment("g", -1)


def test_strategies_pickle() -> None:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(5).with_timestamp_assigner(First())
    copy = pickle.loads(pickle.dumps(strategy))
    assert watermarks(copy.create_generator(), 100) == [94]
    assert isinstance(copy.timestamp_assigner, First)
