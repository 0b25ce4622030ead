"""A job that writes rows by key into Redis and is killed, or whose server is, leaves the right row of every key.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from support.faults.store_jobs import KILLS, Rows, StoreJob
from support.servers.redis import RedisServer

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.servers,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with RedisServer() as made:
        yield made


@pytest.fixture(params=["local", pytest.param("spark", marks=[pytest.mark.nightly, pytest.mark.spark])])
def job(request: pytest.FixtureRequest, server: RedisServer, tmp_path: Path) -> StoreJob:
    with redis.Redis(port=server.port) as client:
        client.flushall()

    def rows() -> Rows:
        client: Any
        with redis.Redis(port=server.port, decode_responses=True) as client:
            hashes = [client.hgetall(key) for key in client.scan_iter("sum:*")]
        return {int(each["k"]): (int(each["n"]), int(each["total"])) for each in hashes}

    options = {"connector": "redis", "url": f"redis://127.0.0.1:{server.port}", "key.prefix": "sum:"}
    return StoreJob(tmp_path, options, rows, request.param)


def test_killed_at_random_moments(job: StoreJob, chance: random.Random) -> None:
    job.kill_at_random_moments(chance)


def test_the_server_is_killed(job: StoreJob, server: RedisServer, chance: random.Random) -> None:
    job.kill_the_server(chance, server.kill, server.start, min(3, KILLS))
