"""The checkpoints of a job are its committed micro-batches, the latest hundred of them."""

from __future__ import annotations

import time
from collections.abc import Mapping

from scurry.graph.plan import JobPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.driver.checkpoint_history import BatchDetails, CheckpointLog, OperatorState
from scurry.runtime.driver.job import JobExecution


def log_of(batches: range) -> CheckpointLog:
    log = CheckpointLog(clock=lambda: 100.0)
    for batch_id in batches:
        log.add(batch_id, seconds=1.5, records=batch_id * 10)
    return log


def test_a_checkpoint_says_when_it_began_how_long_it_took_and_what_it_read() -> None:
    (checkpoint,) = log_of(range(7, 8)).latest()
    assert (checkpoint.checkpoint_id, checkpoint.records) == (7, 70)
    assert (checkpoint.trigger_timestamp_ms, checkpoint.duration_ms) == (98_500, 1_500)
    assert checkpoint.state_size_bytes is None


def test_the_latest_hundred_are_kept_the_oldest_first() -> None:
    assert [each.checkpoint_id for each in log_of(range(250)).latest()] == list(range(150, 250))


def test_a_batch_committed_again_after_a_failure_is_one_checkpoint() -> None:
    log = log_of(range(3))
    log.add(2, seconds=1, records=5)
    assert [(each.checkpoint_id, each.records) for each in log.latest()] == [(0, 0), (1, 10), (2, 5)]


def test_only_the_latest_has_source_positions() -> None:
    log = log_of(range(2))
    log.source_positions = {"orders": 17}
    assert [each.source_positions for each in log.latest()] == [{}, {"orders": 17}]


def test_sizes_and_phases_are_asked_for_when_somebody_looks() -> None:
    asked = []

    def details(since: int) -> Mapping[int, BatchDetails]:
        asked.append(since)
        return {1: BatchDetails(4_096, {"read": 5, "write": 2})}

    log = log_of(range(2))
    log.details = details
    assert not asked
    assert [each.state_size_bytes for each in log.latest()] == [None, 4_096]
    assert [each.phases for each in log.latest()] == [{}, {"read": 5, "write": 2}]


def test_a_batch_begins_with_its_first_phase_if_the_engine_knows_when_that_was() -> None:
    log = log_of(range(2))
    log.details = lambda since: {1: BatchDetails(None, {"plan": 1_600, "write": 3}, 98_400)}
    assert [each.trigger_timestamp_ms for each in log.latest()] == [98_500, 98_400]
    assert [each.duration_ms for each in log.latest()] == [1_500, 1_603]


def test_an_engine_is_asked_once_for_each_batch() -> None:
    asked = []

    def details(since: int) -> Mapping[int, BatchDetails]:
        asked.append(since)
        return {id: BatchDetails(id, {}) for id in range(since, 5)}

    log = log_of(range(5))
    log.details = details
    for _ in range(3):
        assert [each.state_size_bytes for each in log.latest()] == [0, 1, 2, 3, 4]
    log.add(5, seconds=1, records=1)
    log.latest()
    assert asked == [0, 5]


def test_a_batch_committed_again_is_asked_for_again() -> None:
    log = log_of(range(2))
    log.details = lambda since: {1: BatchDetails(4_096, {})}
    log.latest()
    log.add(1, seconds=1, records=1)
    log.details = lambda since: {1: BatchDetails(8_192, {})}
    assert log.latest()[-1].state_size_bytes == 8_192


def test_batches_after_one_that_is_committed_again_are_forgotten() -> None:
    log = log_of(range(4))
    log.details = lambda since: {id: BatchDetails(id, {}) for id in range(4)}
    log.latest()
    log.add(2, seconds=1, records=1)
    log.details = lambda since: {id: BatchDetails(20, {}) for id in range(since, 3)}
    assert [(each.checkpoint_id, each.state_size_bytes) for each in log.latest()] == [(0, 0), (1, 1), (2, 20)]


def test_what_a_batch_takes_begins_with_its_tasks_and_not_with_its_wait_for_records() -> None:
    job = JobExecution(JobPlan(JobSettings("waiting", 1)))
    job.start_clock()
    job._last_batch -= 60
    job.commit(0, [], began=time.monotonic())
    job._last_batch -= 60
    job.commit(1, [])
    assert [each.duration_ms // 1000 for each in job.checkpoints.latest()] == [0, 60]


def test_the_size_of_a_checkpoint_is_that_of_its_subtasks_unless_the_engine_knows_better() -> None:
    log = CheckpointLog()
    for batch_id in (0, 1):
        log.add(batch_id, 1, 5, {7: OperatorState([30, 10], [30, 10]), 9: OperatorState([2], [0])})
    log.details = lambda since: {0: BatchDetails(None, {}), 1: BatchDetails(4_096, {})}
    assert [each.state_size_bytes for each in log.latest()] == [42, 4_096]
