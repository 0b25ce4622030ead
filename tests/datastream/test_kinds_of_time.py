"""The kinds of time under one window: the same records and the same window, whose end each kind sets differently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Configuration, Time, Types, watermark_strategy
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.connectors.collection import CollectionSource
from scurry.connectors.hybrid import HybridSource
from scurry.connectors.socket import SocketSource
from scurry.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.window import TumblingEventTimeWindows, TumblingProcessingTimeWindows
from scurry.errors import OperatorError
from scurry.runtime.driver.job import JobExecution
from scurry.testing import TestHarness, job_plan_of

#: (event time, time of arrival) of records: the second and the third arrive in the other order
RECORDS = [(1, 100), (12, 104), (3, 108), (25, 111)]


class Contents(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield context.window().start, sorted(elements)


class Clock:
    now = 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    monkeypatch.setattr(watermark_strategy, "_wall_clock_ms", lambda: Clock.now)
    Clock.now = 0
    return Clock


def windows_of(clock: type[Clock], strategy: WatermarkStrategy | None, assigner: Any) -> list[Any]:
    """The windows that have fired once the last record has arrived and 10 ms have passed."""

    def build(stream: Any) -> Any:
        timed = stream if strategy is None else stream.assign_timestamps_and_watermarks(strategy)
        return timed.key_by(lambda _: 0).window(assigner.of(Time.milliseconds(10))).process(Contents())

    with TestHarness.of(build) as harness:
        for event_time, arrival in RECORDS:
            clock.now = arrival
            harness.advance_processing_time(arrival)
            harness.process(event_time)
        clock.now = 121
        harness.advance_processing_time(121)
        return harness.outputs()


def by_value() -> WatermarkStrategy:
    ordered = WatermarkStrategy.for_bounded_out_of_orderness(10)
    return ordered.with_timestamp_assigner(lambda value, _: value)


def test_event_time_goes_by_the_records(clock: type[Clock]) -> None:
    assert windows_of(clock, by_value(), TumblingEventTimeWindows) == [(0, [1, 3])]


def test_ingestion_time_goes_by_the_clock_that_has_read_them(clock: type[Clock]) -> None:
    strategy = WatermarkStrategy.for_ingestion_time()
    assert windows_of(clock, strategy, TumblingEventTimeWindows) == [(100, [1, 3, 12]), (110, [25])]


def test_processing_time_goes_by_the_clock_of_the_window(clock: type[Clock]) -> None:
    assert windows_of(clock, None, TumblingProcessingTimeWindows) == [(100, [1, 3, 12]), (110, [25])]


def test_processing_time_does_not_look_at_timestamps(clock: type[Clock]) -> None:
    assert windows_of(clock, by_value(), TumblingProcessingTimeWindows) == [(100, [1, 3, 12]), (110, [25])]


def test_without_a_time_a_window_of_event_time_is_refused(clock: type[Clock]) -> None:
    with pytest.raises(OperatorError, match="MissingTimestampError"):
        windows_of(clock, None, TumblingEventTimeWindows)


def test_ingestion_time_never_goes_back(clock: type[Clock]) -> None:
    assigner = WatermarkStrategy.for_ingestion_time().timestamp_assigner
    times = []
    for clock.now in (5, 3, 7):
        times.append(assigner.extract_timestamp(None, 0))  # type: ignore[union-attr]
    assert times == [5, 5, 7]


# ------------------------------------------------------------------ sources that cannot replay


def environment(**settings: str) -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    for key, value in settings.items():
        configuration.set_string(key.replace("_", "."), value)
    return StreamExecutionEnvironment.get_execution_environment(configuration)


@pytest.mark.parametrize(
    ("build", "interval", "noted"),
    [
        (lambda: SocketSource("localhost", 1), "1 s", 1),
        (lambda: SocketSource("localhost", 1), None, 0),
        (lambda: NumberSequenceSource(1, 2), "1 s", 0),
        (lambda: HybridSource([CollectionSource(["a"], Types.STRING()), SocketSource("localhost", 1)]), "1 s", 1),
    ],
    ids=["socket", "without checkpoints", "numbers", "a socket after numbers"],
)
def test_a_source_that_cannot_replay_is_noted_once(build: Callable[[], Any], interval: str | None, noted: int) -> None:
    env = environment(**({} if interval is None else {"execution_checkpointing_interval": interval}))
    env.from_source(build(), None, "lines").print()
    notes = [note for note in JobExecution(job_plan_of(env, "job")).log.notes if "cannot read records again" in note]
    assert len(notes) == noted
    assert all(note.startswith(f"source 'lines' ({__file__}:") for note in notes)
