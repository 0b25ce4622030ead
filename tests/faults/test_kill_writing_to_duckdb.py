"""A job that writes to a DuckDB file exactly once and is killed leaves every record once.

`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run. One process has the file at a time: so there is no
server to kill, no runner besides that in one process, and nobody looks into the file while the job runs.
"""

from __future__ import annotations

import random
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from support.faults.database_job import CREATE, KILLS, PAUSE_SECONDS, DatabaseJob
from support.faults.failing_sink import commits_of
from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DatabaseJob:
    monkeypatch.setenv("SCURRY_TEST_PASSWORD", "")
    file = tmp_path / "numbers.duckdb"

    def query(sql: str) -> list[Any]:
        with closing(duckdb.connect(str(file))) as connection:
            return list(connection.execute(sql).fetchall())

    query(CREATE)
    return DatabaseJob(Place.new(tmp_path, 1, tmp_path), None, (f"jdbc:duckdb:{file}", ""), query, "local")


@pytest.mark.nightly
def test_killed_between_the_files_commit_and_the_engines(job: DatabaseJob, chance: random.Random) -> None:
    job.survives_kills_between_the_commits(chance)


def test_killed_at_random_moments_and_restarted_with_another_parallelism(
    job: DatabaseJob, chance: random.Random
) -> None:
    noted = commits_of(job.place.fuse)
    run = job.start()
    for kill in range(KILLS):
        before = noted.stat().st_size if noted.exists() else 0
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while not noted.exists() or noted.stat().st_size < before + 2:
            assert not run.ends_within(0.05), run.story("it ended before it was killed")
            assert time.monotonic() < give_up, run.story("it does not commit")
        assert not run.ends_within(chance.uniform(0, PAUSE_SECONDS)), run.story("the input has ended too early")
        run.kill()
        print(f"kill {kill + 1} at {len(job.rows())} rows")
        run = job.start(parallelism=chance.randint(1, 3))
    run.finish()
    job.check()
