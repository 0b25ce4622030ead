"""A job that writes to PostgreSQL exactly once and is killed, or whose server is, leaves every record once.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.faults.failing_sink import fail_after
from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, Run
from support.faults.programs.to_postgres import KEYS, NUMBERS, PER_SECOND

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

KILLS = int(os.environ.get("SCURRY_KILLS", "20"))
#: After a start has committed something it lives for less than this, so that the input lasts for all kills.
PAUSE_SECONDS = min(5.0, NUMBERS / PER_SECOND / KILLS)
PROGRAM = PROGRAMS / "to_postgres.py"


class Job:
    """The job and what it has written."""

    def __init__(self, place: Place, server: Any, runner: str) -> None:
        self.place = place
        self.server = server
        self.runner = runner

    def start(self, parallelism: int = 2) -> Run:
        """Starts it, or starts it again where it committed last."""
        arguments = [self.place.checkpoints, self.server.url, "scurry", self.place.fuse]
        return Run(self.place, ["-p", str(parallelism), "--runner", self.runner], PROGRAM, arguments)

    def rows(self) -> list[tuple[int, int, int]]:
        with psycopg.connect(self.server.conninfo) as connection:
            return connection.execute("SELECT number, key, count FROM target ORDER BY number, count").fetchall()

    def wait_for_some_more(self, run: Run) -> None:
        """Until it is well past its first batch, which holds a record or two."""
        rows = len(self.rows()) + 200
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while len(self.rows()) <= rows and not run.ends_within(0.05):
            assert time.monotonic() < give_up, self.place.log.read_text()[-4000:]

    def check(self) -> None:
        """Every number is there once, with the count that its key had come to."""
        found = self.rows()
        assert [number for number, _, _ in found] == list(range(NUMBERS))
        for key in range(KEYS):
            counts = sorted(count for _, its_key, count in found if its_key == key)
            assert counts == list(range(1, len(counts) + 1))


@pytest.fixture(params=[pytest.param("spark", marks=pytest.mark.in_turn), "local"])
def job(request: pytest.FixtureRequest, postgres_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setenv("SCURRY_TEST_PASSWORD", "correct-horse")
    postgres_server.empty()
    with psycopg.connect(postgres_server.conninfo) as connection:
        connection.execute("CREATE TABLE target (number integer, key integer, count integer, text text)")
    return Job(Place.new(tmp_path, 1, tmp_path), postgres_server, request.param)


def test_killed_at_random_moments_and_restarted_with_another_parallelism(job: Job, chance: random.Random) -> None:
    run = job.start()
    for kill in range(KILLS):
        job.wait_for_some_more(run)
        if run.ends_within(chance.uniform(0, PAUSE_SECONDS)):
            break
        run.kill()
        print(f"kill {kill + 1} at {len(job.rows())} rows")
        run = job.start(parallelism=chance.randint(1, 3))
    run.finish()
    job.check()


def test_killed_between_the_databases_commit_and_the_engines(job: Job, chance: random.Random) -> None:
    for kill in range(KILLS):
        fail_after(job.place.fuse, chance.randrange(6), "kill")
        run = job.start()
        assert run.ends_within(GIVE_UP_SECONDS)
        if run.process.returncode == 0:  # the input ended first
            break
        assert run.process.returncode == -signal.SIGKILL, job.place.log.read_text()[-4000:]
        run.kill()  # what the driver has left behind
        print(f"kill {kill + 1} at {len(job.rows())} rows, after {len(job.place.batches())} batches")
    job.place.fuse.unlink(missing_ok=True)
    job.start().finish()
    job.check()


def test_the_server_is_killed(job: Job, chance: random.Random) -> None:
    run = job.start()
    for kill in range(KILLS):
        job.wait_for_some_more(run)
        if run.ends_within(chance.uniform(0, PAUSE_SECONDS)):
            break
        job.server.kill()
        time.sleep(chance.uniform(0, 1))
        job.server.start()
        print(f"kill {kill + 1} of the server at {len(job.rows())} rows")
    run.finish()
    job.check()
