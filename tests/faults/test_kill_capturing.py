"""Tables that are captured, joined and written by primary key into PostgreSQL and Delta are equal at the end, however
often the job and the server of the captured tables die.

`SCURRY_KILLS` says how many kills of the job (20), of which every seventh is one of the server, too;
`SCURRY_CAPTURED_ROWS` how many rows there are at the beginning (200 for each kill, so that some come during the
snapshot), `SCURRY_CHANGES_PER_SECOND` how many change (200); `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import deltalake
import pytest

from support.cdc.databases import MariaDbShop, PostgresShop
from support.cdc.load import Load, customers_of
from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, Run

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

KILLS = int(os.environ.get("SCURRY_KILLS", "20"))
ROWS = int(os.environ.get("SCURRY_CAPTURED_ROWS", str(max(800, 200 * KILLS))))
CHANGES_PER_SECOND = float(os.environ.get("SCURRY_CHANGES_PER_SECOND", "200"))
KILLS_PER_SERVER = 7
EXPECTED = "SELECT o.id, c.name, o.amount FROM orders o JOIN customers c ON o.customer = c.id ORDER BY o.id"
#: The database whose tables are captured, and the runner.
JOBS = [
    pytest.param("postgres", "local", id="postgres"),
    pytest.param("mariadb", "local", id="mariadb", marks=pytest.mark.servers),
    pytest.param("postgres", "spark", id="postgres-spark", marks=pytest.mark.in_turn),
    pytest.param("mariadb", "spark", id="mariadb-spark", marks=[pytest.mark.servers, pytest.mark.nightly]),
]


def script(place: Place, shop: PostgresShop | MariaDbShop, sinks: PostgresShop) -> Path:
    login = f"'url' = '{sinks.server.url}', 'username' = 'scurry', 'password' = 'correct-horse'"
    chunks = {"scan.incremental.snapshot.chunk.size": str(max(100, ROWS // 120))}
    slots = [{"slot.name": name} if shop.dialect == "postgres" else {} for name in ("orders", "customers")]
    columns = "(id INT, name STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)"
    query = "SELECT o.id, c.name, o.amount FROM orders AS o JOIN customers AS c ON o.customer = c.id"
    statements = [
        f"SET 'execution.checkpointing.dir' = '{place.checkpoints}'",
        "SET 'restart-strategy.type' = 'none'",
        "SET 'parallelism.default' = '2'",
        f"SET 'scurry.batch.max-records' = '{max(400, ROWS // 20)}'",
        "CREATE TABLE orders (id INT, customer INT, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"({shop.options('orders', **chunks, **slots[0])})",
        "CREATE TABLE customers (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"({shop.options('customers', **slots[1])})",
        f"CREATE TABLE enriched {columns} WITH ('connector' = 'jdbc', 'table-name' = 'enriched', {login})",
        f"CREATE TABLE in_delta {columns} WITH ('connector' = 'delta', 'table-path' = '{place.output}', "
        "'write.upsert.enabled' = 'true')",
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO enriched {query} ON CONFLICT DO DEDUPLICATE; "
        f"INSERT INTO in_delta {query} ON CONFLICT DO DEDUPLICATE; END",
    ]
    path = place.root / "job.sql"
    path.write_text(";\n".join(statements) + ";\n")
    return path


def written(sinks: PostgresShop) -> int:
    """A number that changes with every row that the job writes."""
    query = "SELECT n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE relname = 'enriched'"
    return int(sinks.rows(query)[0][0])


def in_delta(place: Place) -> list[tuple[Any, ...]]:
    if not (place.output / "_delta_log").exists():
        return []
    table = deltalake.DeltaTable(str(place.output)).to_pyarrow_table()
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


def fill(shop: PostgresShop | MariaDbShop) -> None:
    numbers = "generate_series(0, {}) AS s(seq)" if shop.dialect == "postgres" else "seq_0_to_{}"
    shop.run(
        "CREATE TABLE orders (id integer PRIMARY KEY, customer integer, amount integer)",
        "CREATE TABLE customers (id integer PRIMARY KEY, name varchar(20))",
        f"INSERT INTO orders SELECT seq, seq % {customers_of(ROWS)}, seq % 1000 FROM {numbers.format(ROWS - 1)}",
        f"INSERT INTO customers SELECT seq, CONCAT('customer ', seq) FROM {numbers.format(customers_of(ROWS) - 1)}",
    )
    if shop.dialect == "postgres":
        shop.run(*(f"ALTER TABLE {table} REPLICA IDENTITY FULL" for table in ("orders", "customers")))


@pytest.mark.parametrize(("database", "runner"), JOBS)
def test_tables_are_equal_after_kills(
    database: str, runner: str, request: pytest.FixtureRequest, tmp_path: Path, chance: random.Random
) -> None:
    servers = {name: request.getfixturevalue(f"{name}_server") for name in {"postgres", database}}
    servers["postgres"].empty()
    sinks = PostgresShop(servers["postgres"])
    shop: PostgresShop | MariaDbShop = sinks if database == "postgres" else MariaDbShop(servers[database])
    fill(shop)
    sinks.run("CREATE TABLE enriched (id integer PRIMARY KEY, name text, amount integer)")
    place = Place.new(tmp_path, 1, tmp_path)
    program, options = script(place, shop, sinks), ["--runner", runner]
    begin = time.monotonic()
    with Load(shop, ROWS, chance.randrange(10**6), CHANGES_PER_SECOND) as load:
        run = Run(place, options, program, [])
        for kill in range(1, KILLS + 1):
            before, give_up = written(sinks), time.monotonic() + GIVE_UP_SECONDS
            while written(sinks) == before:
                assert time.monotonic() < give_up and not run.ends_within(0.05), run.story("nothing is written")
            run.ends_within(chance.uniform(0, 1))
            if kill % KILLS_PER_SERVER == 0:
                load.interrupted(shop.restart)
                sinks.reconnect()
            run.kill()
            print(f"{time.monotonic() - begin:.0f} s: kill {kill} at {written(sinks)} changes", flush=True)
            run = Run(place, options, program, [])
        time.sleep(1)
    last, give_up = -1, 0.0
    expected = [tuple(row) for row in shop.rows(EXPECTED)]
    query = "SELECT id, name, amount FROM enriched ORDER BY id"
    while sinks.rows(query) != expected or in_delta(place) != expected:
        assert not run.ends_within(0.5), run.story("it ends")
        if written(sinks) != last:  # a busy machine takes long for all changes of a load that was not slowed down
            last, give_up = written(sinks), time.monotonic() + GIVE_UP_SECONDS
        different = [sorted(set(rows) ^ set(expected)) for rows in (sinks.rows(query), in_delta(place))]
        words = ", ".join(f"{len(rows)} rows, {rows[:6]}" for rows in different)
        assert time.monotonic() < give_up, run.story(f"PostgreSQL and Delta stay different by {words}")
    run.kill()
    print(f"{time.monotonic() - begin:.0f} s: {len(expected)} rows are equal after {load.changes} changes", flush=True)
    for each in {id(shop): shop, id(sinks): sinks}.values():
        each.close()
