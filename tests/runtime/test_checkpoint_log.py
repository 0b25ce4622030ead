"""The checkpoints of a job are its committed micro-batches, the latest hundred of them."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.runtime.driver.checkpoint_history import BatchDetails, CheckpointLog


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

    def details() -> Mapping[int, BatchDetails]:
        asked.append(1)
        return {1: BatchDetails(4_096, {"read": 5, "write": 2})}

    log = log_of(range(2))
    log.details = details
    assert not asked
    assert [each.state_size_bytes for each in log.latest()] == [None, 4_096]
    assert [each.phases for each in log.latest()] == [{}, {"read": 5, "write": 2}]
