"""A pipeline that is killed again and again leaves every table of its sink as the database has it.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql
import pytest

from support.cdc.databases import MariaDbShop
from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, Run

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.servers,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

TABLES = ("orders", "customers")
ROWS = 600
CHANGES_PER_SECOND = 50
#: The server is killed with every seventh job.
KILLS_PER_SERVER = 7


@contextmanager
def load(server: Any, seed: int, turn: threading.Lock) -> Iterator[MariaDbShop]:
    """Changes of both tables until the block ends, a column that is added among them.

    Args:
        turn: Held during a change; whoever else holds it may kill the server.
    """
    shop, ended = MariaDbShop(server), threading.Event()
    for table in TABLES:
        shop.run(f"CREATE TABLE {table} (id int PRIMARY KEY, amount int)")
        shop.run(f"INSERT INTO {table} VALUES " + ", ".join(f"({number}, {number})" for number in range(ROWS)))
    chance = random.Random(seed)
    connection = shop.again()

    def execute(statement: str) -> None:
        with turn:
            try:
                connection.run(statement)
            except pymysql.OperationalError:  # the server is another process since the last change
                connection.reconnect()
                connection.run(statement)

    def write() -> None:
        for number in range(10**9):
            if ended.wait(1 / CHANGES_PER_SECOND):
                return
            if number == 40:
                execute("ALTER TABLE orders ADD COLUMN size int")
            table, id, amount = chance.choice(TABLES), chance.randrange(ROWS * 2), chance.randrange(1000)
            execute(
                chance.choice(
                    [
                        f"INSERT IGNORE INTO {table} (id, amount) VALUES ({id}, {amount})",
                        f"UPDATE {table} SET amount = {amount} WHERE id = {id}",
                        f"DELETE FROM {table} WHERE id = {id}",
                        f"UPDATE orders SET {'size' if number > 40 else 'amount'} = {amount} WHERE id = {id}",
                    ]
                )
            )

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield shop
    finally:
        ended.set()
        thread.join()
        connection.close()


def in_database(shop: MariaDbShop, directory: Path, table: str) -> list[tuple[Any, ...]]:
    return shop.rows(f"SELECT * FROM ods.{table} ORDER BY id")


def in_lake(shop: MariaDbShop, directory: Path, table: str) -> list[tuple[Any, ...]]:
    from deltalake import DeltaTable

    rows = DeltaTable(str(directory / "ods" / table)).to_pyarrow_table().to_pylist()
    return sorted(tuple(row.values()) for row in rows)


SINKS: dict[str, tuple[str, Callable[[MariaDbShop, Path, str], list[tuple[Any, ...]]]]] = {
    "jdbc": ("  url: jdbc:mariadb://127.0.0.1:{port}/\n  username: root\n  password: ''\n", in_database),
    "delta": ("  path: {lake}\n", in_lake),
}


def pipeline(place: Place, port: int, sink: str) -> Path:
    options = SINKS[sink][0].format(port=port, lake=place.root / "lake")
    path = place.root / "copy.yaml"
    path.write_text(
        f"source:\n  type: mysql\n  hostname: 127.0.0.1\n  port: {port}\n  username: root\n  password: ''\n"
        "  tables: shop.\\.*\n  scan.incremental.snapshot.chunk.size: 100\n"
        f"sink:\n  type: {sink}\n{options}"
        "route:\n  - source-table: shop.\\.*\n    sink-table: ods.<>\n    replace-symbol: <>\n"
        "pipeline:\n  parallelism: 2\n"
    )
    return path


@pytest.mark.parametrize("sink", ["jdbc", pytest.param("delta", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("runner", [pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly]), "local"])
def test_tables_are_equal_after_kills(
    runner: str, sink: str, mariadb_server: Any, tmp_path: Path, chance: random.Random, faults: int
) -> None:
    place, read = Place.new(tmp_path, 1, tmp_path), SINKS[sink][1]
    options = ["--runner", runner, "-D", f"execution.checkpointing.dir={place.checkpoints}"]
    options += ["-D", "scurry.batch.max-records=200"]
    arguments = [pipeline(place, mariadb_server.port, sink)]

    def found(table: str) -> list[tuple[Any, ...]]:
        try:
            return read(shop, place.root / "lake", table)
        except Exception:  # it is not there yet
            return []

    turn = threading.Lock()
    with load(mariadb_server, chance.randrange(10**6), turn) as shop:
        shop.run("DROP DATABASE IF EXISTS ods")
        run = Run(place, options, PROGRAMS / "pipeline.py", arguments)
        for kill in range(1, faults + 1):
            before, give_up = list(map(found, TABLES)), time.monotonic() + GIVE_UP_SECONDS
            while list(map(found, TABLES)) == before:
                assert time.monotonic() < give_up and not run.ends_within(0.05), run.story("nothing is written")
            run.ends_within(chance.uniform(0, 1))
            if kill % KILLS_PER_SERVER == 0:
                with turn:
                    shop.restart()
            run.kill()
            print(f"kill {kill} at {sum(map(len, map(found, TABLES)))} rows", flush=True)
            run = Run(place, options, PROGRAMS / "pipeline.py", arguments)
        time.sleep(1)
    expected = [shop.rows(f"SELECT * FROM {table} ORDER BY id") for table in TABLES]
    assert len(expected[0][0]) == 3, "the column was added"
    last, give_up = None, 0.0
    while (here := list(map(found, TABLES))) != expected:
        if here != last:  # a busy machine takes long for all changes of a load that was not slowed down
            last, give_up = here, time.monotonic() + GIVE_UP_SECONDS
        assert not run.ends_within(0.5), run.story("it ends")
        assert time.monotonic() < give_up, run.story("the tables stay different")
    run.kill()
    shop.close()
