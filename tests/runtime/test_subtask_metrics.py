"""Metrics by subtask."""

from __future__ import annotations

from scurry.runtime.driver.subtask_metrics import SubtaskMetrics
from scurry.runtime.exchange.report import TaskReport


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def sent(count: int) -> TaskReport:
    return TaskReport(counters={(7, "numRecordsOut"): count})


def test_each_subtask_has_counts_of_its_own() -> None:
    metrics = SubtaskMetrics()
    for subtask, count in ((0, 3), (1, 4), (0, 5)):
        metrics.add(subtask, sent(count))
    assert metrics.values()[7]["numRecordsOut"] == {0: 8, 1: 4}


def test_a_rate_is_that_of_the_last_minute() -> None:
    clock = Clock()
    metrics = SubtaskMetrics(clock)
    for _ in range(20):
        clock.now += 10
        metrics.add(0, sent(100 if clock.now <= 100 else 30))
        metrics.committed()
    assert metrics.values()[7]["numRecordsOutPerSecond"] == {0: 3.0}


def test_the_rate_of_a_young_job_is_that_since_its_start() -> None:
    clock = Clock()
    metrics = SubtaskMetrics(clock)
    metrics.add(0, sent(100))
    clock.now = 5
    metrics.committed()
    assert metrics.values()[7]["numRecordsOutPerSecond"] == {0: 20.0}


def test_the_rate_of_an_idle_job_falls_to_nothing() -> None:
    clock = Clock()
    metrics = SubtaskMetrics(clock)
    metrics.add(0, sent(100))
    clock.now = 5
    metrics.committed()
    clock.now = 100
    assert metrics.values()[7]["numRecordsOutPerSecond"] == {0: 0.0}


def test_a_watermark_never_goes_back() -> None:
    metrics = SubtaskMetrics()
    for watermark in (5, 9, 7):
        metrics.add(1, TaskReport(watermarks={7: watermark}))
    assert metrics.values()[7]["currentOutputWatermark"] == {1: 9}
