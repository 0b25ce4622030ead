"""Jobs whose state is in runs are killed, stopped with a savepoint and restored at another parallelism.

`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import PROGRAMS, Run
from support.faults.programs.many_keys import FILES, KEYS, TIMES
from support.faults.sql_inserts import goes_on

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

PROGRAM = PROGRAMS / "many_keys.py"
EXPECTED = sorted(
    [f"{key},{count}" for key in range(KEYS) for count in range(1, TIMES + 1)]
    + [f"{key},at {time},True" for key in range(KEYS) for time in range(1, TIMES + 1)]
)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of one round of all keys after the other, in random order."""
    directory, order = tmp_path_factory.mktemp("numbers"), random.Random(1)
    for file in range(FILES):
        lines = []
        for round in range(TIMES):
            some = [round * KEYS + key for key in range(file, KEYS, FILES)]
            order.shuffle(some)
            lines += some
        (directory / f"part-{file}").write_text("".join(f"{number}\n" for number in lines))
    return directory


def run(place: Place, runner: str, parallelism: int = 2) -> Run:
    arguments: Sequence[object] = (place.readings, place.output, place.checkpoints, parallelism)
    return Run(place, ["--runner", runner], PROGRAM, arguments)


@pytest.mark.parametrize("runner", [pytest.param("spark", marks=pytest.mark.in_turn), "local"])
def test_a_killed_job_ends_with_the_same_records(
    numbers: Path, runner: str, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    kills, jobs = 0, 0
    while kills < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, numbers)
        job = run(place, runner)
        while kills < faults and goes_on(job, lambda place: len(place.batches())):
            if job.ends_within(chance.uniform(0, 0.4)):
                break
            job.kill()
            kills += 1
            print(f"job {jobs}: kill {kills} after {len(place.batches())} batches", flush=True)
            job = run(place, runner)
        job.finish()
        found = sorted(line for file in place.visible("counts") for line in file.read_text().splitlines())
        assert found == EXPECTED


def test_a_killed_job_goes_on_at_another_parallelism(numbers: Path, tmp_path: Path) -> None:
    place = Place.new(tmp_path, 0, numbers)
    job = run(place, "spark")
    while len(place.batches()) < 4 or not list(place.generation.glob("runs/[0-9]*")):
        assert not job.ends_within(0.02), job.story("it ended before it had files of runs")
    job.kill()
    run(place, "spark", parallelism=3).finish()
    found = sorted(line for file in place.visible("counts") for line in file.read_text().splitlines())
    assert found == EXPECTED
    assert not place.generation.exists()
