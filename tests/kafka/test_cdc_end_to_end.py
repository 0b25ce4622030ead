"""Changes of a table in a topic are joined with a dimension and change a topic and a database; the job is killed.

It is killed 20 times; once if `SCURRY_KILLS` asks for fewer. `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.faults.job_directory import Place
from support.faults.sql_inserts import kill_often
from support.kafka.broker import Kafka
from support.kafka.cdc_orders import CUSTOMERS, Orders, script
from support.kafka.killed_job import count

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.postgres,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]


@pytest.mark.in_turn
def test_tables_are_equal_after_kills(kafka: Kafka, tmp_path: Path, postgres_server: Any) -> None:
    seed = int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6))))
    orders: dict[Path, Orders] = {}
    topics: dict[Path, str] = {}

    def job(number: int) -> Place:
        postgres_server.empty()
        with psycopg.connect(postgres_server.conninfo) as connection:
            connection.execute("CREATE TABLE customers (id integer PRIMARY KEY, name text, region text)")
            connection.cursor().executemany("INSERT INTO customers VALUES (%s, %s, %s)", CUSTOMERS)
            connection.execute("CREATE TABLE totals (region text PRIMARY KEY, orders bigint, amount integer)")
        place = Place.new(tmp_path, number, tmp_path)
        orders[place.root] = Orders(kafka, 800, seed + number)
        topics[place.root] = kafka.topic(2)
        return place

    def program(place: Place) -> Path:
        login = f"'url' = '{postgres_server.url}', 'username' = 'scurry', 'password' = 'correct-horse'"
        return script(place, kafka, orders[place.root], topics[place.root], login)

    def check(place: Place) -> None:
        model = orders[place.root]
        assert latest(kafka, topics[place.root]) == model.enriched
        with psycopg.connect(postgres_server.conninfo) as connection:
            found = connection.execute("SELECT region, orders, amount FROM totals ORDER BY region").fetchall()
        assert found == model.totals

    kills = count("SCURRY_KILLS", 20)
    kill_often(job, program, check, kills if kills >= 20 else 1, random.Random(seed))


def latest(kafka: Kafka, topic: str) -> dict[int, tuple[str, int]]:
    """Return the last row of each key of a topic, as a reader of upserts sees it."""
    found: dict[int, tuple[str, int]] = {}
    for message in kafka.messages(topic):
        id = json.loads(message.key())["id"]
        if message.value() is None:
            found.pop(id, None)
        else:
            row = json.loads(message.value())
            found[id] = (row["name"], row["amount"])
    return found
