"""Rows and changes are read once each while tables are written, drivers die and micro-batches are repeated."""

from __future__ import annotations

import random
from typing import Any

import pytest

from support.cdc.databases import PostgresShop
from support.cdc.reader import Reader

#: The databases; each takes part where its server is started.
DATABASES = [
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("mariadb", marks=pytest.mark.servers),
]


@pytest.fixture(params=DATABASES)
def shop(request: pytest.FixtureRequest) -> Any:
    """An empty database."""
    return request.getfixturevalue(request.param)


def write(shop: Any, chance: random.Random, changes: int = 6) -> None:
    """Some transactions of inserts, updates, deletes and moves to other keys."""
    statements = []
    for _ in range(changes):
        id, price = chance.randrange(200), chance.randrange(100000) / 100
        statements.append(
            chance.choice(
                [
                    f"INSERT INTO items SELECT {id}, 'new', {price} WHERE NOT EXISTS "
                    f"(SELECT 1 FROM items WHERE id = {id})",
                    f"UPDATE items SET price = {price} WHERE id = {id}",
                    f"DELETE FROM items WHERE id = {id}",
                    f"UPDATE items SET id = {id} + 1000, name = NULL WHERE id = {id} AND NOT EXISTS "
                    f"(SELECT 1 FROM (SELECT id FROM items WHERE id = {id} + 1000) AS taken)",
                ]
            )
        )
        if chance.random() < 0.5:
            shop.transaction(statements)
            statements = []
    shop.transaction(statements)


def texts(shop: Any) -> list[tuple[str | None, ...]]:
    return sorted(
        tuple(None if value is None else str(value) for value in row)
        for row in shop.rows("SELECT id, name, price FROM items")
    )


@pytest.mark.parametrize("seed", range(2))
def test_drivers_die_at_random_moments(shop: Any, seed: int) -> None:
    chance = random.Random(seed)
    shop.create()
    values = ", ".join(f"({id}, 'item {id}', {id})" for id in range(150))
    shop.run(f"INSERT INTO items VALUES {values}")
    reader = Reader(shop.capture())
    for _ in range(14):
        write(shop, chance)
        if chance.random() < 0.6:
            reader.interrupted_step(chance, lambda: write(shop, chance))
        else:
            reader.step()
    reader.drain()
    assert reader.there() == texts(shop)
    reader.close()


def test_texts_as_keys_are_compared_by_the_database(shop: Any) -> None:
    chance = random.Random(5)
    kind = "text" if shop.dialect == "postgres" else "varchar(20)"
    keys = [chr(97 + n % 26) + ("Ä" if n % 2 else "z") + str(n) for n in range(100)]
    values = ", ".join(f"('{key}', 'x', {n})" for n, key in enumerate(keys))
    shop.run(f"CREATE TABLE items (id {kind} PRIMARY KEY, name text, price numeric(10))")
    if shop.dialect == "postgres":
        shop.run("ALTER TABLE items REPLICA IDENTITY FULL")
    shop.run(f"INSERT INTO items VALUES {values}")
    reader = Reader(shop.capture())

    def change() -> None:
        shop.run(
            f"UPDATE items SET price = price + 1 WHERE price % 7 = {chance.randrange(7)}",
            f"DELETE FROM items WHERE name = 'x' AND price % 31 = {chance.randrange(31)}",
        )

    for _ in range(8):
        change()
        reader.interrupted_step(chance, change)
    reader.drain()
    assert reader.there() == texts(shop)
    reader.close()


@pytest.mark.postgres
def test_a_transaction_that_began_before_the_snapshot_is_read_when_it_commits(postgres: PostgresShop) -> None:
    import psycopg

    postgres.create()
    postgres.run("INSERT INTO items VALUES (1, 'a', 1)")
    reader = Reader(postgres.capture())
    reader.next_works()  # makes the slot: it would wait for transactions that are open
    reader.kill(reader.position)
    with psycopg.connect(postgres.server.conninfo) as other:
        other.execute("INSERT INTO items VALUES (2, 'b', 2)")
        late = Reader(postgres.capture(slot="shop"))
        late.step()
        assert late.there() == [("1", "a", "1.00")]
    late.drain()
    assert late.there() == [("1", "a", "1.00"), ("2", "b", "2.00")]
    late.close()
    reader.close()


@pytest.mark.postgres
def test_the_slot_follows_some_commits_later(postgres: PostgresShop) -> None:
    postgres.create()
    reader = Reader(postgres.capture())
    reader.drain()
    position = "SELECT confirmed_flush_lsn FROM pg_replication_slots"
    (before,) = postgres.rows(position)
    for number in range(3):
        postgres.run(f"INSERT INTO items VALUES ({number}, 'a', 1)")
        reader.step()
    assert postgres.rows(position) == [before]
    for number in range(3, 8):
        postgres.run(f"INSERT INTO items VALUES ({number}, 'a', 1)")
        reader.step()
    assert postgres.rows(position) > [before]
    reader.close()
