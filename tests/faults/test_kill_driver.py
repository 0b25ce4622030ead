"""A job that is killed, or interrupted, goes on where it committed: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from support.faults.failing_sink import fail_after
from support.faults.job_directory import Place, Results
from support.faults.job_processes import GIVE_UP_SECONDS, Run

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


def test_a_killed_job_ends_with_the_same_records(
    readings: Path, undisturbed: Any, expected: Results, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    kills, jobs = 0, 0
    while kills < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        run = Run(place)
        while kills < faults and not run.ends_within(chance.uniform(0.15, 0.75) * undisturbed.seconds):
            run.kill()
            kills += 1
            print(f"job {jobs}: kill {kills} after {len(place.batches())} batches")
            run = Run(place)
        run.finish()
        assert place.results() == expected


def test_a_job_killed_between_the_commits_of_sinks_and_sparks_ends_with_the_same_records(
    readings: Path, expected: Results, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    kills, jobs = 0, 0
    while kills < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        while kills < faults:
            fail_after(place.fuse, chance.randrange(4), "kill")
            run = Run(place)
            assert run.ends_within(GIVE_UP_SECONDS)
            if run.process.returncode == 0:  # the input ended first
                break
            assert run.process.returncode == -signal.SIGKILL, place.log.read_text()[-4000:]
            run.kill()  # what the driver has left behind
            at = place.batches("offsets")[-1]
            assert at not in place.batches(), "Spark has committed"
            assert any(f"-{at}-" in file.name for file in place.visible("counts")), "the sink has not"
            kills += 1
            print(f"job {jobs}: kill {kills} in batch {at}")
        place.fuse.unlink(missing_ok=True)
        Run(place).finish()
        assert place.results() == expected


def test_a_finished_job_that_is_started_again_ends_at_once(undisturbed: Any, expected: Results) -> None:
    place, batches = undisturbed.place, undisturbed.place.batches()
    place.log.unlink()
    Run(place).finish()
    assert "nothing left to do" in place.log.read_text()
    assert place.batches() == batches
    assert place.results() == expected


def test_an_interrupted_job_stops_after_its_batch_and_goes_on_when_started_again(
    readings: Path, expected: Results, tmp_path: Path
) -> None:
    place = Place.new(tmp_path, 1, readings)
    run, give_up = Run(place), time.monotonic() + GIVE_UP_SECONDS
    while len(place.batches()) < 2 and time.monotonic() < give_up:
        time.sleep(0.05)
    os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does: to the driver and the JVM alike
    assert run.ends_within(GIVE_UP_SECONDS) and run.process.returncode == 130
    before = len(place.batches())
    Run(place).finish()
    assert f"resuming from the checkpoint in {tmp_path}" in place.log.read_text()
    assert 2 <= before < len(place.batches())
    assert place.results() == expected
