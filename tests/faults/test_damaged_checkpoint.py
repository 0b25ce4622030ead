"""A job whose newest checkpoint file is damaged falls back to the batch before: nothing lost, nothing twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scurry.spark.checkpoint.recovery import Recovery
from support.faults.damaged_checkpoints import KINDS, damage
from support.faults.job_directory import Place, Results
from support.faults.job_in_process import Attempt

#: Each version of the state needs all changelogs since the first batch.
ONE_SNAPSHOT = {"spark.sql.streaming.stateStore.minDeltasForSnapshot": "1000"}

pytestmark = pytest.mark.faults


def test_a_job_with_damaged_files_ends_with_the_same_records(
    readings: Path, expected: Results, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    done: list[str] = []
    told, jobs = 0, 0
    while len(done) < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        while not place.finished:
            attempt = Attempt(place)
            going_on = len(done) < faults and attempt.wait_for(chance.randrange(1, 5))
            if going_on:
                chance.choice([attempt.cancel, attempt.crash])()
            error = attempt.error()
            notes = [note for note in attempt.notes if "is damaged" in note]
            told += len(notes)
            print(*(f"    {note}" for note in notes), sep="\n")
            if going_on and not place.finished:
                done.append(damage(place, list(KINDS)[len(done) % len(KINDS)], chance))
                print(f"job {jobs}: {done[-1]} after {len(place.batches())} batches")
            else:
                assert error is None
        assert place.results() == expected
    print(f"{told} times the job said that it had gone back")
    assert told >= faults / 4


def stopped_with_a_damaged_changelog(place: Place) -> tuple[Path, bytes]:
    """Stops a job and empties a file of its state; that file and what it held."""
    attempt = Attempt(place, ONE_SNAPSHOT)
    assert attempt.wait_for(2)
    attempt.cancel()
    assert attempt.error() is None
    state = place.generation / "spark" / "state" / "1" / "1"
    newest = max(state.glob("*.changelog"), key=lambda file: int(file.stem))
    held = newest.read_bytes()
    newest.with_name(f".{newest.name}.crc").unlink()
    newest.write_bytes(b"")
    return newest, held


def test_state_that_can_be_loaded_after_all_is_loaded(
    readings: Path, expected: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place.new(tmp_path, 0, readings)
    file, held = stopped_with_a_damaged_changelog(place)
    roll_back = Recovery.roll_back_unreadable_state

    def snapshot_arrives(recovery: Recovery) -> bool:
        file.write_bytes(held)
        return roll_back(recovery)

    monkeypatch.setattr(Recovery, "roll_back_unreadable_state", snapshot_arrives)
    attempt = Attempt(place, ONE_SNAPSHOT)
    assert attempt.error() is None
    assert place.results() == expected
    assert not [note for note in attempt.notes if "is damaged" in note]


def test_state_that_only_the_check_can_load_fails_the_job(
    readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place.new(tmp_path, 0, readings)
    stopped_with_a_damaged_changelog(place)
    checks: list[Recovery] = []

    def nothing_unreadable(recovery: Recovery) -> bool:
        checks.append(recovery)
        return False

    monkeypatch.setattr(Recovery, "roll_back_unreadable_state", nothing_unreadable)
    assert "CANNOT_LOAD_STATE_STORE" in str(Attempt(place, ONE_SNAPSHOT).error())
    assert len(checks) == 2
