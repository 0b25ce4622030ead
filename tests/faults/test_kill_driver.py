"""A job that is killed at random moments, or interrupted, goes on where it committed: nothing lost, nothing twice.

`SCURRY_KILLS` says how many kills (3); `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import scurry

pytestmark = pytest.mark.faults

PROGRAM = Path(__file__).parent / "programs" / "windows_and_counts.py"
KILLS = int(os.environ.get("SCURRY_KILLS", "3"))
SEED = int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6))))
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent), "PYTHONUNBUFFERED": "1"}
GIVE_UP_SECONDS = 180
FILES, LINES_PER_FILE, SENSORS = 8, 1000, 7


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that each span all of the time, so that no reading is late however the files are shared out."""
    directory = tmp_path_factory.mktemp("readings")
    numbers = random.Random(1)
    for file in range(FILES):
        with open(directory / f"part-{file}.csv", "w") as out:
            for line in range(LINES_PER_FILE):
                at = (file * LINES_PER_FILE + line) * 100 - numbers.randrange(4000)
                out.write(f"sensor-{numbers.randrange(SENSORS)},{max(at, 0)},{numbers.randrange(100)}\n")
        os.utime(directory / f"part-{file}.csv", (file, file))
    return directory


class Run:
    """One start of the program, in a session of its own: driver, JVM and workers."""

    def __init__(self, readings: Path, place: Path) -> None:
        log = open(place / "log", "a")
        command = [sys.executable, "-m", "scurry", "run", str(PROGRAM), str(readings), str(place / "out"),
                   str(place / "checkpoints")]  # fmt: skip
        self.process = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log, start_new_session=True)

    def ends_within(self, seconds: float) -> bool:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """SIGKILL to every process, until none is left; workers have process groups of their own."""
        while members := list(self._members()):
            for pid in members:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.02)
        self.process.wait()

    def _members(self) -> Iterator[int]:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:4]
            except OSError:
                continue
            if int(session) == self.process.pid and state != "Z":
                yield int(pid)


def finish(run: Run, place: Path) -> None:
    ended = run.ends_within(GIVE_UP_SECONDS)
    if not ended:
        run.kill()
    assert ended and run.process.returncode == 0, (place / "log").read_text()[-4000:]


def results(place: Path) -> dict[str, list[str]]:
    """The records of each sink's visible files, sorted."""
    found = {}
    for sink in ("sums", "totals", "counts"):
        files = [file for file in (place / "out" / sink).rglob("*") if file.is_file() and file.name[0] != "."]
        found[sink] = sorted(line for file in files for line in file.read_text().splitlines())
    return found


def batches_committed(place: Path) -> int:
    commits = place / "checkpoints" / "generation-1" / "spark" / "commits"
    return len([name for name in os.listdir(commits) if name.isdigit()]) if commits.is_dir() else 0


@pytest.fixture(scope="module")
def undisturbed(readings: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[str]], float]:
    """The results of a run nobody disturbs, and how long it took."""
    place = tmp_path_factory.mktemp("undisturbed")
    start = time.monotonic()
    finish(Run(readings, place), place)
    assert batches_committed(place) >= 10
    return results(place), time.monotonic() - start


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc")
def test_a_killed_job_goes_on_and_ends_with_the_same_records(
    readings: Path, undisturbed: tuple[dict[str, list[str]], float], tmp_path: Path
) -> None:
    expected, seconds = undisturbed
    assert len(expected["counts"]) == FILES * LINES_PER_FILE
    chance, kills, job = random.Random(SEED), 0, 0
    print(f"\nSCURRY_SEED={SEED}, undisturbed {seconds:.1f} s")
    while kills < KILLS:
        job += 1
        place = tmp_path / f"job-{job}"
        place.mkdir()
        run = Run(readings, place)
        while kills < KILLS and not run.ends_within(chance.uniform(0.2, 1.0) * seconds):
            run.kill()
            kills += 1
            print(f"job {job}: kill {kills} after {batches_committed(place)} batches")
            run = Run(readings, place)
        finish(run, place)
        assert results(place) == expected
        print(f"job {job}: the same records after {batches_committed(place)} batches")


def test_a_finished_job_that_is_started_again_ends_at_once(
    readings: Path, undisturbed: tuple[dict[str, list[str]], float], tmp_path: Path
) -> None:
    finish(Run(readings, tmp_path), tmp_path)
    (tmp_path / "log").unlink()
    start = time.monotonic()
    finish(Run(readings, tmp_path), tmp_path)
    assert "nothing left to do" in (tmp_path / "log").read_text()
    assert time.monotonic() - start < undisturbed[1] / 2
    assert results(tmp_path) == undisturbed[0]


def test_an_interrupted_job_stops_after_its_batch_and_goes_on_when_started_again(
    readings: Path, undisturbed: tuple[dict[str, list[str]], float], tmp_path: Path
) -> None:
    run, give_up = Run(readings, tmp_path), time.monotonic() + GIVE_UP_SECONDS
    while batches_committed(tmp_path) < 2 and time.monotonic() < give_up:
        time.sleep(0.05)
    os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does: to the driver and the JVM alike
    assert run.ends_within(GIVE_UP_SECONDS) and run.process.returncode == 130
    before = batches_committed(tmp_path)
    finish(Run(readings, tmp_path), tmp_path)
    assert f"going on from the checkpoint in {tmp_path}" in (tmp_path / "log").read_text()
    assert 2 <= before < batches_committed(tmp_path)
    assert results(tmp_path) == undisturbed[0]
