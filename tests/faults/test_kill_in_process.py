"""Jobs of the in-process runner that are killed at any moment go on where they committed, alone and in a session.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

import scurry
from scurry.cli.sessions import find_session
from scurry.errors import ScurryError
from scurry.rest.client import RemoteProcess
from support.faults.failing_sink import fail_after
from support.faults.job_directory import FILES, Place, Results, write_readings
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, Run
from support.faults.programs.numbers_to_files import KEYS
from support.faults.standalone_cluster import wait_until
from support.faults.supervisor import Supervisor

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

LOCAL = ["--runner", "local"]
#: Enough for some seconds of small batches.
LINES = 4000


@pytest.fixture(scope="module")
def many_readings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_readings(tmp_path_factory.mktemp("many-readings"), LINES)


@pytest.fixture(scope="module")
def undisturbed_here(many_readings: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, float]:
    """What every job must have written in the end, and how many seconds that takes."""
    place = Place.new(tmp_path_factory.mktemp("undisturbed-here"), 0, many_readings)
    start = time.monotonic()
    Run(place, LOCAL).finish()
    results = place.results()
    assert len(results["counts"]) == FILES * LINES
    return results, time.monotonic() - start


def test_files_to_files_killed_at_random_moments(
    many_readings: Path, undisturbed_here: tuple[Results, float], chance: random.Random, faults: int, tmp_path: Path
) -> None:
    (expected, seconds), kills, jobs = undisturbed_here, 0, 0
    while kills < faults:
        jobs += 1
        place = Place.new(tmp_path, jobs, many_readings)
        run = Run(place, LOCAL)
        while kills < faults and not run.ends_within(chance.uniform(0.2, 0.8) * seconds):
            run.kill()
            kills += 1
            print(f"job {jobs}: kill {kills} after {len(place.batches())} batches")
            run = Run(place, LOCAL)
        run.finish()
        assert place.results() == expected


def test_files_to_files_killed_after_the_commits_of_sinks(
    many_readings: Path, undisturbed_here: tuple[Results, float], chance: random.Random, faults: int, tmp_path: Path
) -> None:
    place = Place.new(tmp_path, 1, many_readings)
    for kill in range(faults):
        fail_after(place.fuse, chance.randrange(1, 3), "kill")
        run = Run(place, LOCAL)
        assert run.ends_within(GIVE_UP_SECONDS)
        assert run.process.returncode == -signal.SIGKILL, run.story("it was not killed")
        print(f"kill {kill + 1} after {len(place.batches())} batches")
    place.fuse.unlink(missing_ok=True)
    Run(place, LOCAL).finish()
    assert place.results() == undisturbed_here[0]


class LocalSession:
    """A supervised session of the in-process runner."""

    def __init__(self, home: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
        command = [sys.executable, "-m", "scurry", "session", "start", *LOCAL]
        self.supervisor = Supervisor(command, home / "log", environment)

    def process(self) -> RemoteProcess:
        """The endpoint of whatever process the session has now."""
        found: list[RemoteProcess] = []

        def look() -> bool:
            try:
                found.append(find_session("default"))
            except ScurryError:
                return False
            return True

        wait_until(look, "the session can be found", GIVE_UP_SECONDS, while_runs=self.supervisor)
        return found[-1]

    def submit(self, *arguments: str) -> str:
        process = self.process()
        path = str(PROGRAMS / "numbers_to_files.py")
        jar = process.request("POST", "/jars/register", {"path": path})["filename"]
        return str(process.request("POST", f"/jars/{jar}/run", {"programArgsList": list(arguments)})["jobid"])

    def states(self) -> dict[str, str]:
        """Job id -> state; empty while the session does not answer."""
        try:
            answer = self.process().request("GET", "/jobs/overview")
        except ScurryError:
            return {}
        return {one["jid"]: one["state"] for one in answer["jobs"]}


def lines_of(directory: Path) -> list[str]:
    return sorted(line for file in directory.rglob("part-*") for line in file.read_text().splitlines())


def test_three_jobs_of_a_session_that_is_killed(
    chance: random.Random, faults: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kills = min(faults, 5)
    count, outputs = 500 * kills, [tmp_path / f"out-{number}" for number in range(3)]
    session = LocalSession(tmp_path)
    try:
        jobs = [session.submit(str(output), str(count)) for output in outputs]
        for kill in range(kills):
            before = [len(lines_of(output)) for output in outputs]
            wait_until(
                lambda before=before: all(len(lines_of(o)) > n for o, n in zip(outputs, before, strict=True)),  # type: ignore[misc]
                "all jobs go on", GIVE_UP_SECONDS, while_runs=session.supervisor,
            )  # fmt: skip
            time.sleep(chance.uniform(0, 0.5))
            session.supervisor.kill_driver()
            wait_until(lambda kill=kill: session.supervisor.starts > kill + 1, "it is started", GIVE_UP_SECONDS)  # type: ignore[misc]
            print(f"kill {kill + 1} at {[len(lines_of(output)) for output in outputs]} records")
        wait_until(lambda: session.states() == dict.fromkeys(jobs, "FINISHED"), "all have ended", GIVE_UP_SECONDS)
    finally:
        session.supervisor.kill()
    expected = sorted(f"{key},{number}" for key in range(KEYS) for number in range(1, count // KEYS + 1))
    for output in outputs:
        assert lines_of(output) == expected
