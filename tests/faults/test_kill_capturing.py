"""Tables that are captured, joined and written into another table are equal at the end, however often the job dies.

`SCURRY_KILLS` says how many kills (20), `SCURRY_CAPTURED_ROWS` how many rows there are at the beginning (4000),
`SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.cdc.databases import PostgresShop
from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, Run

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

ROWS = int(os.environ.get("SCURRY_CAPTURED_ROWS", "4000"))
CHANGES_PER_SECOND = 200
CUSTOMERS = 50
EXPECTED = "SELECT o.id, c.name, o.amount FROM orders AS o JOIN customers AS c ON o.customer = c.id ORDER BY o.id"


def script(place: Place, shop: PostgresShop) -> Path:
    login = f"'url' = '{shop.server.url}', 'username' = 'scurry', 'password' = 'correct-horse'"
    chunks = {"scan.incremental.snapshot.chunk.size": str(max(100, ROWS // 120))}
    statements = [
        f"SET 'execution.checkpointing.dir' = '{place.checkpoints}'",
        "SET 'restart-strategy.type' = 'none'",
        "SET 'parallelism.default' = '2'",
        f"SET 'scurry.batch.max-records' = '{max(400, ROWS // 20)}'",
        "CREATE TABLE orders (id INT, customer INT, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"({shop.options('orders', **chunks, **{'slot.name': 'orders'})})",
        "CREATE TABLE customers (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"({shop.options('customers', **{'slot.name': 'customers'})})",
        "CREATE TABLE enriched (id INT, name STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"('connector' = 'jdbc', 'table-name' = 'enriched', {login})",
        "INSERT INTO enriched SELECT o.id, c.name, o.amount FROM orders AS o JOIN customers AS c ON o.customer = c.id "
        "ON CONFLICT DO DEDUPLICATE",
    ]
    path = place.root / "job.sql"
    path.write_text(";\n".join(statements) + ";\n")
    return path


@contextmanager
def load(conninfo: str, seed: int) -> Iterator[None]:
    """Changes of both tables, until the block ends."""
    ended = threading.Event()

    def write() -> None:
        chance = random.Random(seed)
        with psycopg.connect(conninfo, autocommit=True) as connection:
            while not ended.wait(1 / CHANGES_PER_SECOND):
                id, amount, customer = chance.randrange(ROWS * 2), chance.randrange(1000), chance.randrange(CUSTOMERS)
                statement = chance.choice(
                    [
                        f"INSERT INTO orders VALUES ({id}, {customer}, {amount}) ON CONFLICT (id) DO NOTHING",
                        f"UPDATE orders SET amount = {amount}, customer = {customer} WHERE id = {id % ROWS}",
                        f"DELETE FROM orders WHERE id = {id}",
                        f"UPDATE customers SET name = 'c{amount}' WHERE id = {customer}" if chance.random() < 0.02
                        else f"UPDATE orders SET amount = amount + 1 WHERE id = {id}",
                    ]
                )  # fmt: skip
                connection.execute(statement)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def written(shop: PostgresShop) -> int:
    """A number that changes with every row that the job writes."""
    (found,) = shop.rows("SELECT n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE relname = 'enriched'")
    return int(found[0])


@pytest.mark.parametrize("runner", [pytest.param("spark", marks=pytest.mark.in_turn), "local"])
def test_tables_are_equal_after_kills(
    runner: str, postgres_server: Any, tmp_path: Path, chance: random.Random, faults: int
) -> None:
    postgres_server.empty()
    shop = PostgresShop(postgres_server)
    shop.run(
        "CREATE TABLE orders (id integer PRIMARY KEY, customer integer, amount integer)",
        "CREATE TABLE customers (id integer PRIMARY KEY, name text)",
        "CREATE TABLE enriched (id integer PRIMARY KEY, name text, amount integer)",
        "ALTER TABLE orders REPLICA IDENTITY FULL",
        "ALTER TABLE customers REPLICA IDENTITY FULL",
        f"INSERT INTO orders SELECT i, i % {CUSTOMERS}, i % 1000 FROM generate_series(0, {ROWS - 1}) AS i",
        f"INSERT INTO customers SELECT i, 'customer ' || i FROM generate_series(0, {CUSTOMERS - 1}) AS i",
    )
    place = Place.new(tmp_path, 1, tmp_path)
    program = script(place, shop)
    with load(postgres_server.conninfo, chance.randrange(10**6)):
        run = Run(place, ["--runner", runner], program, [])
        for kill in range(faults):
            before, give_up = written(shop), time.monotonic() + GIVE_UP_SECONDS
            while written(shop) == before:
                assert time.monotonic() < give_up and not run.ends_within(0.05), run.story("nothing is written")
            run.ends_within(chance.uniform(0, 1))
            run.kill()
            print(f"kill {kill + 1} at {written(shop)} changes", flush=True)
            run = Run(place, ["--runner", runner], program, [])
        time.sleep(1)
    give_up = time.monotonic() + GIVE_UP_SECONDS
    expected = shop.rows(EXPECTED)
    while shop.rows("SELECT id, name, amount FROM enriched ORDER BY id") != expected:
        assert not run.ends_within(0.5), run.story("it ends")
        assert time.monotonic() < give_up, run.story("the tables stay different")
    run.kill()
    shop.close()
