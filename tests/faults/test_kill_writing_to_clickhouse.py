"""A job that writes into ClickHouse's engine and is killed, or whose server is, leaves every row once.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.faults.store_jobs import KILLS, Rows, StoreJob
from support.servers.clickhouse import ClickHouseServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]
#: Makes the job of a kind of table.
Kind = Callable[[ClickHouseServer, Path, str], StoreJob]
REMEMBERING = "SETTINGS non_replicated_deduplication_window = 1000"


@pytest.fixture(scope="module")
def server() -> Iterator[ClickHouseServer]:
    with ClickHouseServer() as made:
        made.ask("CREATE DATABASE shop")
        yield made


def rows_of(server: ClickHouseServer, query: str) -> Rows:
    try:
        lines = server.ask(f"{query} FORMAT TSV").splitlines()
    except OSError:  # it is killed
        return {}
    found = [tuple(map(int, line.split("\t"))) for line in lines]
    return {key: (count, total) for key, count, total in found}


def exactly_once(server: ClickHouseServer, directory: Path, runner: str) -> StoreJob:
    """Each number is a row; blocks that come again are dropped."""
    table = f"numbers_{abs(hash(directory)) % 10**9}"
    server.ask(f"CREATE TABLE shop.{table} (k Int64, n Int64) ENGINE = MergeTree ORDER BY k {REMEMBERING}")
    options = server.options(table) | {"sink.delivery-guarantee": "exactly-once"}
    options |= {"sink.staging-dir": str(directory / "staged")}
    query = f"SELECT k, count(), sum(n) FROM shop.{table} GROUP BY k"
    return StoreJob(directory, options, lambda: rows_of(server, query), runner, "numbers")


def by_key(server: ClickHouseServer, directory: Path, runner: str) -> StoreJob:
    """Each key has a row with count and sum, which replaces the one before."""
    table = f"sums_{abs(hash(directory)) % 10**9}"
    server.ask(f"CREATE TABLE shop.{table} (k Int64, n Int64, total Int64) ENGINE = ReplacingMergeTree ORDER BY k")
    query = f"SELECT k, n, total FROM shop.{table} FINAL"
    return StoreJob(directory, server.options(table), lambda: rows_of(server, query), runner)


@pytest.mark.in_turn
def test_exactly_once_killed_at_random_moments(server: ClickHouseServer, tmp_path: Path, chance: random.Random) -> None:
    exactly_once(server, tmp_path, "local").kill_at_random_moments(chance)


@pytest.mark.nightly
@pytest.mark.parametrize("runner", ["local", "spark"])
@pytest.mark.parametrize("kind", [exactly_once, by_key])
def test_killed_at_random_moments(
    server: ClickHouseServer, tmp_path: Path, chance: random.Random, kind: Kind, runner: str
) -> None:
    kind(server, tmp_path, runner).kill_at_random_moments(chance)


@pytest.mark.nightly
@pytest.mark.parametrize("runner", ["local", "spark"])
@pytest.mark.parametrize("kind", [exactly_once, by_key])
def test_the_server_is_killed(
    server: ClickHouseServer, tmp_path: Path, chance: random.Random, kind: Kind, runner: str
) -> None:
    kind(server, tmp_path, runner).kill_the_server(chance, server.kill, server.start, min(3, KILLS))
