"""An executor that is killed is replaced, its tasks are repeated elsewhere: nothing lost, nothing twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.faults.job_directory import Place, Results
from support.faults.job_processes import CLUSTER, EXECUTOR, Run, kill

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

#: Batches small enough that there are many. Spark repeats the tasks that are lost, but gives a batch up when tasks that
#: have read from the lost ones are done already: the job restarts from its checkpoint then.
OPTIONS = [
    *CLUSTER, "-D", "scurry.batch.max-bytes=6000",
    "-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.attempts=1000",
    "-D", "restart-strategy.fixed-delay.delay=100ms",
]  # fmt: skip


def test_a_job_whose_executors_are_killed_ends_with_the_same_records(
    readings: Path, expected: Results, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    kills, jobs = 0, 0
    while kills < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        run, executors, killed = Run(place, OPTIONS), set[int](), 0
        while kills < faults and not run.ends_within(0.2):
            alive = list(run.members(EXECUTOR))
            executors.update(alive)
            if len(place.batches()) > killed and alive and chance.random() < 0.3:
                killed += kill(chance.choice(alive))
                kills += 1
                print(f"job {jobs}: kill {kills} after {len(place.batches())} batches")
        run.finish()
        assert place.results() == expected
        assert len(executors) > killed, "an executor was not replaced"
