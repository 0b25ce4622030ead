"""The endpoint keeps what the metrics of a job were over the last hour, within a fixed size."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from scurry.rest import history as module
from scurry.rest.history import History, busy_of
from scurry.runtime.driver.checkpoint_history import CheckpointInfo
from support.clock import FakeTime
from support.rest.fake_jobs import FakeJob, served


@pytest.fixture
def job() -> FakeJob:
    return FakeJob()


def sampled(job: FakeJob, seconds: int) -> tuple[History, FakeTime]:
    """The history of a job that reads ten records per second."""
    clock = FakeTime(1_000_000.0)
    history, due = History(clock), 0.0
    for second in range(seconds):
        job.metrics = {"numbers.numRecordsOut": 10 * second}
        clock.now = 1_000_000.0 + second
        if second >= due:
            history.add(job)
            due = second + history.step
    return history, clock


def test_a_point_is_the_sum_of_the_metrics(job: FakeJob) -> None:
    (numbers,), (sums, printed) = job.execution.plan.sources, job.execution.plan.operators
    job.execution.operator_metrics = lambda: {  # type: ignore[method-assign]
        numbers: {"numRecordsOut": 30, "pendingRecords": 7},
        sums: {"numRecordsIn": 30, "numRecordsOut": 99, "currentOutputWatermark": 5000},
        printed: {"numRecordsIn": 12},
    }
    job.execution.subtasks = {
        numbers: {"backPressuredTimeMsPerSecond": {0: 230, 1: 230}, "busyTimeMsPerSecond": {0: 100, 1: 300}},
        sums: {"stateSize": {0: 1000, 1: 500}, "busyTimeMsPerSecond": {0: 800}},
    }
    history = History(FakeTime(8.0))
    history.add(job)
    (point,) = history.points
    assert point._asdict() == {
        "timestamp": 8000, "records_in": 30, "records_out": 12, "pending_records": 7, "pending_bytes": None,
        "watermark": 5000, "back_pressure": 230, "busy": 800, "state_size": 1500, "batches": 0, "phases": {},
    }  # fmt: skip


def test_an_old_job_has_few_points_which_cover_an_hour_with_the_right_rates(job: FakeJob) -> None:
    history, clock = sampled(job, 20_000)
    points = history.points
    assert len(points) <= module.MOST_POINTS and history.step == module.LAST_STEP
    assert points[0].timestamp <= (clock.now - module.SPAN_SECONDS + 2 * module.LAST_STEP) * 1000
    assert points[0].timestamp >= (clock.now - module.SPAN_SECONDS - module.LAST_STEP) * 1000
    for before, after in zip(points, points[1:], strict=False):
        assert (after.records_in - before.records_in) * 1000 == 10 * (after.timestamp - before.timestamp)


def test_a_young_job_has_a_point_for_each_second(job: FakeJob) -> None:
    history, _ = sampled(job, 60)
    assert len(history.points) == 60


def test_micro_batches_are_counted_once_and_when_their_phases_are_known(job: FakeJob) -> None:
    history = History()
    job.taken = [CheckpointInfo(0, 0, 50, 1, phases={"read": 30}), CheckpointInfo(1, 0, 50, 1)]
    history.add(job)
    job.taken[1] = CheckpointInfo(1, 0, 50, 1, phases={"read": 10, "write": 4})
    for _ in range(2):
        history.add(job)
    assert [(point.batches, point.phases) for point in history.points] == [
        (1, {"read": 30}), (2, {"read": 40, "write": 4}), (2, {"read": 40, "write": 4}),
    ]  # fmt: skip


def test_micro_batches_that_are_repeated_after_a_failure_are_counted_again(job: FakeJob) -> None:
    history = History()
    for last in (5, 2, 3):
        job.taken = [CheckpointInfo(number, 0, 50, 1, phases={"read": 1}) for number in range(last + 1)]
        history.add(job)
    assert history.points[-1].batches > 6


@pytest.mark.parametrize(("runner", "busy"), [("spark", 300), ("local", 400)])
def test_an_operator_is_as_busy_as_its_busiest_subtask_and_in_process_as_all(
    runner: Literal["spark", "local"], busy: float, job: FakeJob
) -> None:
    plan = job.execution.plan
    plan.settings = replace(plan.settings, runner=runner)
    assert busy_of(plan, {"busyTimeMsPerSecond": {0: 100, 1: 300}}) == busy
    assert busy_of(plan, {}) is None


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_the_endpoint_answers_with_lists_of_the_same_length(job: FakeJob, registry: None) -> None:
    job.metrics = {"numbers.numRecordsOut": 30}
    job.taken = [CheckpointInfo(0, 0, 50, 1, phases={"read": 30})]
    with served(job) as process:
        answer = answered(process, job, 2)
    lists = [*(each for each in answer.values() if isinstance(each, list)), answer["phases"]["read"]]
    assert {len(each) for each in lists} == {len(answer["timestamps"])}
    assert answer["records-in"][-1] == 30 and answer["interval"] == 1000


def test_a_metric_that_cannot_be_read_leaves_a_gap_and_no_more(job: FakeJob, registry: None) -> None:
    fail = SimpleNamespace(times=1)
    read = job.execution.operator_metrics

    def failing() -> dict[int, dict[str, Any]]:
        fail.times -= 1
        if fail.times >= 0:
            raise RuntimeError("dictionary changed size during iteration")
        return read()

    job.execution.operator_metrics = failing  # type: ignore[method-assign]
    with served(job) as process:
        assert answered(process, job, 1)["timestamps"]


def answered(process: Any, job: FakeJob, points: int) -> Any:
    """The history once it has as many points."""
    deadline = time.monotonic() + 60
    while len((answer := process.request("GET", f"/jobs/{job.id}/history"))["timestamps"]) < points:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return answer
