"""A job whose newest checkpoint file is damaged falls back to the batch before: nothing lost, nothing twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.faults.damaged_checkpoints import KINDS, damage
from support.faults.job_directory import Place, Results
from support.faults.job_in_process import Attempt

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
