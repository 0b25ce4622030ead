"""A job whose newest files of runs are damaged falls back to the batch before: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import PROGRAMS, Run
from support.faults.programs.many_keys import FILES, KEYS, TIMES

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

EXPECTED = sorted(
    [f"{key},{count}" for key in range(KEYS) for count in range(1, TIMES + 1)]
    + [f"{key},at {time},True" for key in range(KEYS) for time in range(1, TIMES + 1)]
)


def start(place: Place) -> Run:
    arguments = (place.readings, place.output, place.checkpoints, 2)
    return Run(place, ["--runner", "spark"], PROGRAMS / "many_keys.py", arguments)


def runs_of_committed_batches(place: Place) -> list[Path]:
    """The files of the newest committed batch that has some; only those that no later batch has superseded matter."""
    directory, committed = place.generation / "runs", max(place.batches(), default=-1)
    found = list(directory.glob("[0-9]*")) if directory.is_dir() else []
    newest = max((batch for batch in map(_batch, found) if batch <= committed), default=None)
    return [path for path in found if _batch(path) == newest]


def _batch(path: Path) -> int:
    return int(path.name.partition("-")[0])


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(Path.unlink, id="missing"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:1000]), id="short"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-9] + b"123456789"), id="wrong"),
    ],
)
def test_a_job_with_damaged_runs_ends_with_the_same_records(damage: Callable[[Path], None], tmp_path: Path) -> None:
    numbers, order = tmp_path / "numbers", random.Random(1)
    numbers.mkdir()
    for file in range(FILES):
        lines = []
        for round in range(TIMES):
            some = range(round * KEYS + file, (round + 1) * KEYS, FILES)
            lines += order.sample(some, len(some))
        (numbers / f"part-{file}").write_text("".join(f"{number}\n" for number in lines))
    place = Place.new(tmp_path, 0, numbers)
    job = start(place)
    while len(place.batches()) < 3 or not runs_of_committed_batches(place):
        assert not job.ends_within(0.02), job.story("it ended before it had files of runs")
    job.kill()
    time.sleep(0.5)
    for path in runs_of_committed_batches(place):
        copies = [copy for copy in _copies(path) if copy != path]
        damage(path)
        for copy in copies:
            copy.unlink()
    for _ in range(3):  # the first may commit batches before it comes to what is damaged
        job = start(place)
        if job.ends_within(300) and job.process.returncode == 0:
            break
    assert job.process.returncode == 0, job.story("it has not ended well")
    found = sorted(line for file in place.visible("counts") for line in file.read_text().splitlines())
    assert found == EXPECTED
    assert "rolled back" in place.log.read_text()


def _copies(path: Path) -> list[Path]:
    """The names of a file on this machine, its own included."""
    number = path.stat().st_ino
    local = Path(tempfile.gettempdir(), f"scurry-state-{os.getuid()}")
    return [copy for copy in local.rglob("*") if copy.is_file() and copy.stat().st_ino == number]
