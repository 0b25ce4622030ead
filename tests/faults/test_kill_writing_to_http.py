"""A job that sends rows by HTTP and is killed, or whose server is, sends every row; a key of idempotency has one body.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.faults.store_jobs import KILLS, Rows, StoreJob
from support.servers.keeping_http import KeepingServer

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.fixture
def server() -> Iterator[KeepingServer]:
    with KeepingServer() as made:
        yield made


@pytest.fixture(params=["local", pytest.param("spark", marks=[pytest.mark.nightly, pytest.mark.spark])])
def job(request: pytest.FixtureRequest, server: KeepingServer, tmp_path: Path) -> StoreJob:
    def rows() -> Rows:
        found: dict[int, set[int]] = {}
        for _, sent in server.requests():
            for row in sent:
                found.setdefault(row["k"], set()).add(row["n"])
        return {k: (len(numbers), sum(numbers)) for k, numbers in found.items()}

    options = {"connector": "http-async-sink", "url": server.url, "format": "json"}
    return StoreJob(tmp_path, options, rows, request.param, "numbers")


def check_keys(server: KeepingServer) -> None:
    """A request that comes again is the same one: a server that knows its key may leave it out."""
    bodies: dict[str, object] = {}
    requests = server.requests()
    for key, sent in requests:
        assert bodies.setdefault(key, sent) == sent
    rows = sum(len(sent) for _, sent in requests)
    distinct = sum(len(sent) for sent in bodies.values() if isinstance(sent, list))
    print(f"{len(requests)} requests, {len(bodies)} keys; {rows} rows, {distinct} without requests that came again")


def test_killed_at_random_moments(job: StoreJob, server: KeepingServer, chance: random.Random) -> None:
    job.kill_at_random_moments(chance)
    check_keys(server)


def test_the_server_is_killed(job: StoreJob, server: KeepingServer, chance: random.Random) -> None:
    job.kill_the_server(chance, server.kill, server.start, min(3, KILLS))
    check_keys(server)
