"""A job that writes to PostgreSQL exactly once and is killed, or whose server is, leaves every record once.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.faults.database_job import CREATE, DatabaseJob
from support.faults.job_directory import Place

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.fixture(params=[pytest.param("spark", marks=pytest.mark.in_turn), "local"])
def job(
    request: pytest.FixtureRequest, postgres_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> DatabaseJob:
    monkeypatch.setenv("SCURRY_TEST_PASSWORD", "correct-horse")
    postgres_server.empty()

    def query(sql: str) -> list[Any]:
        with psycopg.connect(postgres_server.conninfo) as connection:
            return connection.execute(sql).fetchall()

    with psycopg.connect(postgres_server.conninfo) as connection:
        connection.execute(CREATE)
    place = Place.new(tmp_path, 1, tmp_path)
    return DatabaseJob(place, postgres_server, (postgres_server.url, "scurry"), query, request.param)


def test_killed_at_random_moments_and_restarted_with_another_parallelism(
    job: DatabaseJob, chance: random.Random
) -> None:
    job.survives_kills_at_random_moments(chance)


def test_killed_between_the_databases_commit_and_the_engines(job: DatabaseJob, chance: random.Random) -> None:
    job.survives_kills_between_the_commits(chance)


def test_the_server_is_killed(job: DatabaseJob, chance: random.Random) -> None:
    job.survives_kills_of_the_server(chance)
