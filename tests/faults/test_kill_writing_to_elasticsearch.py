"""A job that writes documents by key and is killed, or whose server is, leaves the right document of every key.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.faults.store_jobs import KILLS, Rows, StoreJob
from support.servers.fake_elasticsearch import FakeElasticsearch
from support.servers.opensearch import ElasticsearchServer, OpenSearchServer

on_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc")


def rows_of(documents: list[dict[str, Any]]) -> Rows:
    return {each["k"]: (each["n"], each["total"]) for each in documents}


@on_proc
@pytest.mark.faults
def test_killed_at_random_moments_with_a_server_that_is_busy_now_and_then(
    chance: random.Random, tmp_path: Path
) -> None:
    with FakeElasticsearch() as server:
        server.fault = lambda *action: (429, "es_rejected_execution_exception") if chance.random() < 0.05 else None
        options = {"connector": "elasticsearch-7", "hosts": server.url, "index": "sums"}
        options |= {"sink.bulk-flush.backoff.delay": "1 ms", "sink.bulk-flush.max-actions": "40"}
        job = StoreJob(tmp_path, options, lambda: rows_of(list(server.contents("sums").values())))
        job.kill_at_random_moments(chance)


@pytest.fixture(scope="module", params=[OpenSearchServer, ElasticsearchServer])
def server(request: pytest.FixtureRequest) -> Iterator[OpenSearchServer]:
    with request.param() as made:
        yield made


@pytest.fixture(params=["local", "spark"])
def job(request: pytest.FixtureRequest, server: OpenSearchServer, tmp_path: Path) -> StoreJob:
    index = f"sums-{request.param}-{abs(hash(tmp_path)) % 10**6}"
    connector = "opensearch" if server.product == "opensearch" else "elasticsearch-7"
    options = {"connector": connector, "hosts": server.url, "index": index}

    def rows() -> Rows:
        try:
            server.ask("POST", f"/{index}/_refresh")
            found: Any = server.ask("POST", f"/{index}/_search", {"size": 1000})
        except OSError:  # it has not been made yet, or the server is killed
            return {}
        return rows_of([hit["_source"] for hit in found["hits"]["hits"]])

    return StoreJob(tmp_path, options, rows, request.param)


@on_proc
@pytest.mark.faults
@pytest.mark.nightly
@pytest.mark.servers
def test_a_real_server_killed_at_random_moments(job: StoreJob, chance: random.Random) -> None:
    job.kill_at_random_moments(chance)


@on_proc
@pytest.mark.faults
@pytest.mark.nightly
@pytest.mark.servers
def test_the_server_is_killed(job: StoreJob, server: OpenSearchServer, chance: random.Random) -> None:
    job.kill_the_server(chance, server.kill, server.start, min(3, KILLS))
