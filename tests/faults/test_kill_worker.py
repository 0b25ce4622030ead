"""A Python worker that is killed is replaced and its task repeated: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from in_process import Attempt, spark_context
from places import Place, Results
from processes import kill, workers

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers in /proc"),
]


def failed_tasks() -> int:
    """Tasks that have failed on this session so far."""
    return int(spark_context()._jsc.sc().statusStore().executorSummary("driver").failedTasks())


def test_a_job_whose_workers_are_killed_ends_with_the_same_records(
    readings: Path, expected: Results, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    kills, jobs, repeated = 0, 0, 0
    while kills < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        attempt = Attempt(place)
        attempt.wait_for(1)
        before = failed_tasks()
        while kills < faults and not attempt.ends_within(chance.uniform(0, 0.5)):
            here = workers(os.getsid(0))
            if here and kill(chance.choice(here)):
                kills += 1
                print(f"job {jobs}: kill {kills} after {attempt.batches} batches")
        error = attempt.error()
        assert error is None, getattr(error, "details", error)
        time.sleep(0.5)  # Spark counts late
        repeated += failed_tasks() - before
        assert not attempt.notes, "the job itself was not to notice"
        assert place.results() == expected
    print(f"{repeated} tasks were repeated")
    assert repeated >= faults / 4
