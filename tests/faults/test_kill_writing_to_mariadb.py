"""A job that writes to MariaDB exactly once and is killed, or whose server is, leaves every record once.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pymysql
import pytest

from support.faults.database_job import CREATE, DatabaseJob
from support.faults.job_directory import Place

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.servers,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.fixture(params=[pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly]), "local"])
def job(
    request: pytest.FixtureRequest, mariadb_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> DatabaseJob:
    monkeypatch.setenv("SCURRY_TEST_PASSWORD", "")

    def query(sql: str) -> list[Any]:
        connection = pymysql.connect(host="127.0.0.1", port=mariadb_server.port, user="root", autocommit=True)
        with connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE IF NOT EXISTS killed")
            connection.select_db("killed")
            cursor.execute(sql)
            return list(cursor.fetchall())

    query("DROP DATABASE IF EXISTS killed")
    query(CREATE)
    url = f"jdbc:mysql://127.0.0.1:{mariadb_server.port}/killed"
    place = Place.new(tmp_path, 1, tmp_path)
    return DatabaseJob(place, mariadb_server, (url, "root"), query, request.param)


def test_killed_at_random_moments_and_restarted_with_another_parallelism(
    job: DatabaseJob, chance: random.Random
) -> None:
    job.survives_kills_at_random_moments(chance)


@pytest.mark.nightly
def test_killed_between_the_databases_commit_and_the_engines(job: DatabaseJob, chance: random.Random) -> None:
    job.survives_kills_between_the_commits(chance)


def test_the_server_is_killed(job: DatabaseJob, chance: random.Random) -> None:
    job.survives_kills_of_the_server(chance)
