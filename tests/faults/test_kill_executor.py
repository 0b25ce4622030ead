"""An executor that is killed is replaced, its tasks are repeated elsewhere: nothing lost, nothing twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from places import Place, Results
from processes import CLUSTER, EXECUTOR, Run, kill

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

#: Batches small enough that there are many.
OPTIONS = [*CLUSTER, "-D", "scurry.batch.max-bytes=6000"]


def test_a_job_whose_executors_are_killed_ends_with_the_same_records(
    readings: Path, expected: Results, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    kills, jobs = 0, 0
    faults = max(1, faults // 4)  # a cluster and each new executor take long to start: SCURRY_KILLS=80 kills 20
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
