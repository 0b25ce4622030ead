"""An executor that is killed in a BATCH job costs the partitions that it held: Spark computes those again, no others.

`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from support.faults.job_directory import FILES, Place, write_readings
from support.faults.job_processes import CLUSTER, EXECUTOR, GIVE_UP_SECONDS, PROGRAMS, Run, kill

pytestmark = [
    pytest.mark.faults,
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

PROGRAM = PROGRAMS / "windows_in_batch.py"
#: Four executors: one has a quarter of what is there.
EXECUTORS = ["--master", "local-cluster[4,1,1024]", *CLUSTER[2:]]
LINES, PARALLELISM = 20_000, 8
#: Tasks of jobs with a kill, for each task of as many jobs without.
MOST_TASKS = 1.3


def start(place: Place) -> Run:
    events = place.root / "events"
    events.mkdir()
    settings = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri(),
                "spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false"}  # fmt: skip
    options = [word for key, value in settings.items() for word in ("-D", f"{key}={value}")]
    return Run(place, [*EXECUTORS, *options], PROGRAM, [place.readings, place.output, PARALLELISM])


def tasks(place: Place) -> int:
    """How many tasks have ended, well or not."""
    ended = 0
    for file in (place.root / "events").iterdir():
        for line in file.read_text().splitlines():
            ended += json.loads(line)["Event"] == "SparkListenerTaskEnd"
    return ended


def executors_of(run: Run) -> list[int]:
    """The executors, once all are there."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while len(executors := list(run.members(EXECUTOR))) < 4:
        assert not run.ends_within(0.05) and time.monotonic() < deadline, run.story("it has too few executors")
    return executors


def test_a_batch_job_whose_executors_are_killed_repeats_few_tasks(
    chance: random.Random, faults: int, tmp_path: Path
) -> None:
    readings = write_readings(tmp_path / "readings", LINES)
    undisturbed = Place.new(tmp_path, 0, readings)
    run = start(undisturbed)
    executors_of(run)
    begun = time.monotonic()
    run.finish()
    seconds, expected, few = time.monotonic() - begun, undisturbed.results(), tasks(undisturbed)
    assert len(expected["counts"]) == FILES * LINES
    kills = jobs = many = 0
    while kills < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        run = start(place)
        executors = executors_of(run)
        killed = not run.ends_within(chance.uniform(0.1, 0.9) * seconds) and kill(chance.choice(executors))
        run.finish()
        kills += killed
        many += tasks(place)
        print(f"job {jobs}: {'killed' if killed else 'not killed'}, {tasks(place)} tasks, {few} without")
        assert place.results() == expected
    assert many <= MOST_TASKS * jobs * few
