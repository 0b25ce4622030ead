"""A collection that is captured is equal to its copy and its sums in the end, however often the job is killed.

The copy is written exactly once by batch ids: a repeated micro-batch must have the documents that it had. The server
keeps its documents in memory, so it is not killed.
`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, Run
from support.servers.mongodb import MongoServer

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.servers,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

DOCUMENTS, GROUPS, CHANGES_PER_SECOND = 600, 7, 100


@pytest.fixture(scope="module")
def server() -> Iterator[MongoServer]:
    with MongoServer() as made:
        yield made


@contextmanager
def load(shop: Any, seed: int) -> Iterator[None]:
    """Changes, until the block ends."""
    ended = threading.Event()

    def write() -> None:
        chance = random.Random(seed)
        while not ended.wait(1 / CHANGES_PER_SECOND):
            at = {"_id": chance.randrange(DOCUMENTS * 2)}
            act = chance.random()
            if act < 0.2:
                shop.items.delete_one(at)
            elif act < 0.4:
                shop.items.replace_one(at, {"kind": chance.randrange(GROUPS), "amount": 1}, upsert=True)
            else:
                shop.items.update_one(at, {"$set": {"amount": chance.randrange(1000)}})

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def script(place: Place, server: MongoServer, copy: Path) -> Path:
    statements = [
        f"SET 'execution.checkpointing.dir' = '{place.checkpoints}'",
        "SET 'parallelism.default' = '2'",
        "SET 'scurry.batch.max-records' = '40'",
        "CREATE TABLE items (_id INT, kind INT, amount INT, PRIMARY KEY (_id) NOT ENFORCED) WITH ('connector' = "
        f"'mongodb-cdc', 'hosts' = '127.0.0.1:{server.port}', 'database' = 'shop', 'collection' = 'items', "
        "'poll.await.time.ms' = '100')",
        "CREATE TABLE copy (id INT, kind INT, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'url' = 'jdbc:sqlite:{copy}', 'table-name' = 'copy')",
        "CREATE TABLE sums (kind INT, n BIGINT, total BIGINT, PRIMARY KEY (kind) NOT ENFORCED) WITH ('connector' = "
        f"'mongodb', 'uri' = '{server.uri}', 'database' = 'shop', 'collection' = 'sums')",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO copy SELECT * FROM items; "
        "INSERT INTO sums SELECT kind, COUNT(*), SUM(amount) FROM items GROUP BY kind; END",
    ]
    path = place.root / "job.sql"
    path.write_text(";\n".join(statements) + ";\n")
    return path


def rows_of(copy: Path) -> list[Any]:
    with closing(sqlite3.connect(copy, timeout=30)) as database:
        return sorted(database.execute("SELECT id, kind, amount FROM copy"))


@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=[pytest.mark.nightly, pytest.mark.spark])])
def test_copies_are_equal_after_kills(
    runner: str, server: MongoServer, tmp_path: Path, chance: random.Random, faults: int
) -> None:
    client: Any
    with MongoClient(server.uri) as client:
        shop = client.shop
        client.drop_database("shop")
        shop.items.insert_many([{"_id": i, "kind": i % GROUPS, "amount": i} for i in range(DOCUMENTS)])
        copy = tmp_path / "copy.db"
        with closing(sqlite3.connect(copy)) as database:
            database.execute("CREATE TABLE copy (id INTEGER PRIMARY KEY, kind INTEGER, amount INTEGER)")
        place = Place.new(tmp_path, 1, tmp_path)
        program, begin = script(place, server, copy), time.monotonic()
        with load(shop, chance.randrange(10**6)):
            run = Run(place, ["--runner", runner], program, [])
            for kill in range(faults):
                before, give_up = rows_of(copy), time.monotonic() + GIVE_UP_SECONDS
                while rows_of(copy) == before:
                    assert time.monotonic() < give_up and not run.ends_within(0.1), run.story("nothing is written")
                run.ends_within(chance.uniform(0, 1))
                run.kill()
                print(f"kill {kill + 1} at {time.monotonic() - begin:.0f} s, {len(rows_of(copy))} rows", flush=True)
                run = Run(place, ["--runner", runner], program, [])
            time.sleep(1)
        expected = sorted((each["_id"], each["kind"], each["amount"]) for each in shop.items.find())
        sums: dict[int, list[int]] = {}
        for _, kind, amount in expected:
            of_kind = sums.setdefault(kind, [0, 0])
            of_kind[0], of_kind[1] = of_kind[0] + 1, of_kind[1] + amount
        last, give_up = None, 0.0
        while (found := rows_of(copy)) != expected or {
            e["_id"]: [e["n"], e["total"]] for e in shop.sums.find()
        } != sums:
            if found != last:  # a busy machine takes long for all changes of a load that was not slowed down
                last, give_up = found, time.monotonic() + GIVE_UP_SECONDS
            assert not run.ends_within(0.5), run.story("it ends")
            assert time.monotonic() < give_up, run.story("they stay different")
        run.kill()
        print(f"mongodb-cdc on {runner}: {faults} kills in {time.monotonic() - begin:.0f} s")
