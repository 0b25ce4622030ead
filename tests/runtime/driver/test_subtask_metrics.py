"""Metrics by subtask."""

from __future__ import annotations

from scurry.runtime.driver.metrics import SubtaskMetrics
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.state.store import StateSize


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


def test_state_is_the_latest_that_each_subtask_has_told() -> None:
    metrics = SubtaskMetrics()
    for subtask, size in ((0, StateSize(300, 300)), (2, StateSize(50, 50))):
        metrics.add(subtask, TaskReport(state={7: size}))
    first = metrics.take_states({7: 3})[7]
    assert (list(first.total), list(first.written)) == ([300, 0, 50], [300, 0, 50])
    metrics.add(0, TaskReport(state={7: StateSize(320, 90)}))
    second = metrics.take_states({7: 3})[7]
    assert (list(second.total), list(second.written)) == ([320, 0, 50], [90, 0, 0])
    assert metrics.values()[7]["stateSize"] == {0: 320, 2: 50}


def test_a_rescaled_job_begins_to_tell_its_state_anew() -> None:
    metrics = SubtaskMetrics()
    metrics.add(2, TaskReport(state={7: StateSize(300, 300)}))
    metrics.forget_state()
    assert metrics.take_states({7: 2}) == {}


def test_metrics_of_functions_are_single_values_by_subtask() -> None:
    metrics = SubtaskMetrics()
    for subtask, values in ((0, (9, 2, 4, 5)), (1, (7, 1, 7, 7)), (0, (1, 1, 1, 1))):
        reports = {(7, "size"): ("distribution", *values), (7, "open"): ("gauge", subtask, subtask + 5)}
        metrics.add(subtask, TaskReport(user_metrics=reports))
    found = metrics.of_users.values()[7]
    assert (found["size_sum"], found["size_max"], found["open"]) == ({0: 10, 1: 7}, {0: 5, 1: 7}, {0: 5, 1: 6})
    assert found["size_mean"] == {0: 10 / 3, 1: 7.0}


def test_gauges_of_truth_values_are_1_or_0_and_those_of_text_are_left_out() -> None:
    metrics = SubtaskMetrics()
    metrics.add(0, TaskReport(user_metrics={(7, "open"): ("gauge", 0, True), (7, "name"): ("gauge", 0, "a")}))
    assert str(metrics.of_users.values()) == str({7: {"open": {0: 1}}})
