"""A job that writes documents by key into MongoDB and is killed leaves the right document of every key.

The server that these tests start keeps its documents in memory: it cannot be killed and come back.
`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from support.faults.store_jobs import Rows, StoreJob
from support.servers.mongodb import MongoServer

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.servers,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[MongoServer]:
    with MongoServer() as made:
        yield made


def job(server: MongoServer, tmp_path: Path, runner: str) -> StoreJob:
    options = {"connector": "mongodb", "uri": server.uri, "database": "shop", "collection": f"sums_{runner}"}

    def rows() -> Rows:
        client: Any
        with MongoClient(server.uri) as client:
            found = client.shop[options["collection"]].find()
            return {each["_id"]: (each["n"], each["total"]) for each in found}

    return StoreJob(tmp_path, options, rows, runner)


def test_killed_at_random_moments(server: MongoServer, tmp_path: Path, chance: random.Random) -> None:
    job(server, tmp_path, "local").kill_at_random_moments(chance)


@pytest.mark.nightly
@pytest.mark.spark
def test_killed_at_random_moments_on_spark(server: MongoServer, tmp_path: Path, chance: random.Random) -> None:
    job(server, tmp_path, "spark").kill_at_random_moments(chance)
