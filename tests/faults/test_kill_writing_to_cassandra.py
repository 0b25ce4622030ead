"""A job that writes rows by key into Cassandra and is killed, or whose server is, leaves the right row of every key.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cassandra.cluster import Cluster

from support.faults.store_jobs import KILLS, Rows, StoreJob
from support.servers.cassandra import CassandraServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[CassandraServer]:
    with CassandraServer() as made:
        yield made


@pytest.fixture(params=["local", "spark"])
def job(request: pytest.FixtureRequest, server: CassandraServer, tmp_path: Path) -> StoreJob:
    table = f"sums_{request.param}_{abs(hash(tmp_path)) % 10**6}"

    def session() -> Any:
        made = Cluster(["127.0.0.1"], port=server.port, protocol_version=4, connect_timeout=20).connect()
        made.default_timeout = 60
        return made

    first = session()
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    first.execute(f"CREATE KEYSPACE IF NOT EXISTS shop WITH replication = {replication}")
    first.execute(f"CREATE TABLE shop.{table} (k bigint PRIMARY KEY, n bigint, total bigint)")
    first.cluster.shutdown()

    def rows() -> Rows:
        own = session()
        found = {row.k: (row.n, row.total) for row in own.execute(f"SELECT * FROM shop.{table}")}
        own.cluster.shutdown()
        return found

    options = {"connector": "cassandra", "hosts": "127.0.0.1", "port": str(server.port)}
    return StoreJob(tmp_path, options | {"keyspace": "shop", "table-name": table}, rows, request.param)


def test_killed_at_random_moments(job: StoreJob, chance: random.Random) -> None:
    job.kill_at_random_moments(chance)


def test_the_server_is_killed(job: StoreJob, server: CassandraServer, chance: random.Random) -> None:
    job.kill_the_server(chance, server.kill, server.start, min(3, KILLS))
