"""A Python worker that is killed is replaced and its task repeated: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from support.faults.job_directory import Place, Results
from support.faults.job_in_process import Attempt, spark_context
from support.faults.job_processes import kill, workers

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
    hits, kills, jobs = 0, 0, 0  # a worker that waits for work is no loss
    while hits < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        attempt = Attempt(place)
        attempt.wait_for(1)
        before = failed_tasks()
        met: Counter[int] = Counter()  # batch -> kills: a task may fail often, but not for ever
        while hits + failed_tasks() - before < faults and not attempt.ends_within(chance.uniform(0, 0.3)):
            here, batch = workers(os.getsid(0), os.getpid()), attempt.batches
            if here and met[batch] < 5 and kill(chance.choice(here)):
                met[batch] += 1
                kills += 1
        error = attempt.error()
        assert error is None, getattr(error, "details", error)
        time.sleep(0.5)  # Spark counts late
        hits += failed_tasks() - before
        print(f"job {jobs}: {kills} kills, {hits} tasks were repeated")
        assert not attempt.notes, "the job itself was not to notice"
        assert place.results() == expected
