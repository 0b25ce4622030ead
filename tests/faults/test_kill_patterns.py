"""A job with patterns that is killed finds what it would have found: nothing lost, nothing twice.

`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, Run, kill, workers

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


def start(place: Place) -> Run:
    return Run(place, program=PROGRAMS / "patterns.py", arguments=[place.readings, place.output, place.checkpoints])


def found(place: Place) -> dict[str, list[str]]:
    return {
        sink: sorted(line for file in place.visible(sink) for line in file.read_text().splitlines())
        for sink in ("matches", "timed-out")
    }


def test_killed_drivers_and_workers_change_no_match(
    readings: Path, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    undisturbed = Place.new(tmp_path, 0, readings)
    begin = time.monotonic()
    start(undisturbed).finish()
    seconds, expected = time.monotonic() - begin, found(undisturbed)
    assert all(expected.values())
    wanted = faults if faults >= 20 else 1  # one kill where time is short: this job is one of many that are killed
    kills, jobs = 0, 0
    while kills < wanted:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        run = start(place)
        while kills < wanted and not run.ends_within(chance.uniform(0.15, 0.75) * seconds):
            those = workers(run.process.pid)
            if those and chance.random() < 0.5:
                kill(chance.choice(those))
            else:
                run.kill()
                run = start(place)
            kills += 1
            print(f"job {jobs}: kill {kills} after {len(place.batches())} batches")
        if not run.ends_within(GIVE_UP_SECONDS) or run.process.returncode != 0:  # it failed with its worker
            run.kill()
            run = start(place)
        run.finish()
        assert found(place) == expected
