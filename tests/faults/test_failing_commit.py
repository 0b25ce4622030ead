"""A failure between the commits of sinks and Spark's repeats the batch: nothing lost, nothing twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.faults.failing_sink import CommitFailedError, fail_after
from support.faults.job_directory import Place, Results
from support.faults.job_in_process import Attempt

pytestmark = pytest.mark.faults


def test_a_job_that_fails_between_the_commits_ends_with_the_same_records(
    readings: Path, expected: Results, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    failures, jobs = 0, 0
    while failures < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        while failures < faults:
            fail_after(place.fuse, chance.randrange(3), "raise")
            error = Attempt(place).error()
            if error is None:  # the input ended first
                break
            assert CommitFailedError.__name__ in str(error)
            at = place.batches("offsets")[-1]
            assert at not in place.batches(), "Spark has committed"
            assert any(f"-{at}-" in file.name for file in place.visible("counts")), "the sink has not"
            failures += 1
            print(f"job {jobs}: failure {failures} in batch {at}")
        place.fuse.unlink(missing_ok=True)
        assert Attempt(place).error() is None
        assert place.results() == expected
