"""Rows and changes are read once each while tables are written, drivers die and micro-batches are repeated."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from scurry.connectors.cdc.capture import ChunkWork
from scurry.connectors.cdc.postgres import session
from scurry.connectors.cdc.postgres.reading import PostgresCapture
from scurry.errors import ScurryError
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
    """The rows as the database writes them."""
    key = "format('%s', id)" if shop.dialect == "postgres" else "id"
    return sorted((tuple(map(text, row)) for row in shop.rows(f"SELECT {key}, name, price FROM items")), key=repr)


def text(value: Any) -> Any:
    return value if value is None or isinstance(value, bytes) else str(value)


def assert_followed(shop: Any, reader: Reader, chance: random.Random, change: Callable[[], None]) -> None:
    """Rows that are read while others change, by a reader that dies now and then, are those of the table."""
    for _ in range(8):
        change()
        reader.interrupted_step(chance, change)
    reader.drain()
    assert reader.there() == texts(shop)
    reader.close()


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


def test_chunks_are_the_same_where_assignments_are_not_logged(shop: Any) -> None:
    """The in-process runner begins behind the last commit: what tasks have written meanwhile has to come again."""
    chance = random.Random(11)
    shop.create()
    values = ", ".join(f"({id}, 'item {id}', {id})" for id in range(150))
    shop.run(f"INSERT INTO items VALUES {values}")
    reader = Reader(shop.capture())
    reader.assignments()  # chooses the first chunks
    chunks = 0
    while True:
        before = reader.position
        works = reader.next_works()
        if not isinstance(works[0], ChunkWork):
            break
        chunks += 1
        first = reader.read(works)
        write(shop, chance, 12)
        reader.kill(before)
        again = reader.read(reader.next_works())
        assert reader.content(again) == reader.content(first)
        reader.commit(again)
    assert chunks > 3
    reader.kill(before)
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

    assert_followed(shop, reader, chance, change)


@pytest.mark.postgres
def test_texts_as_keys_are_compared_by_the_collation_of_their_column(postgres: PostgresShop) -> None:
    """By that of the database changes were looked for in other chunks: some came again, others did not."""
    chance = random.Random(5)
    values = ", ".join(f"('{chr((97 if n % 2 else 65) + n % 26)}{n}', 'x', {n})" for n in range(100))
    postgres.run(
        'CREATE TABLE items (id text COLLATE "en-x-icu" PRIMARY KEY, name text, price numeric(10))',
        "ALTER TABLE items REPLICA IDENTITY FULL",
        f"INSERT INTO items VALUES {values}",
    )
    reader = Reader(postgres.capture())

    def change() -> None:
        postgres.run(
            f"UPDATE items SET price = price + 1 WHERE mod(price, 7) = {chance.randrange(7)}",
            f"DELETE FROM items WHERE mod(price, 31) = {chance.randrange(31)}",
        )

    assert_followed(postgres, reader, chance, change)


@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["integer", "text"])
def test_a_chunk_that_is_read_again_takes_as_many_requests_however_much_has_changed(
    postgres: PostgresShop, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that was killed while it read tables asked for each row that had changed since, in every chunk."""
    import psycopg

    postgres.run(
        f"CREATE TABLE items (id {kind} PRIMARY KEY, name text, price numeric(10))",
        "ALTER TABLE items REPLICA IDENTITY FULL",
        "INSERT INTO items SELECT i, 'x', i FROM generate_series(1, 100) AS i",
    )
    reader = Reader(postgres.capture())
    works = reader.next_works()
    first = reader.content(reader.read(works))
    reader.kill(reader.position)
    requests: list[object] = []
    execute = psycopg.Connection.execute

    def counted(connection: Any, query: Any, *rest: Any, **more: Any) -> Any:
        if rest and "pg_replication_slots" not in query:  # which is asked until the slot is free
            requests.append(query)
        return execute(connection, query, *rest, **more)

    monkeypatch.setattr(psycopg.Connection, "execute", counted)
    counts = []
    for most in (1, 90):
        postgres.run(f"UPDATE items SET name = 'y' WHERE price <= {most}")
        requests.clear()
        assert reader.content(reader.read(works)) == first
        counts.append(len(requests))
    assert counts[0] == counts[1]
    reader.close()


#: By database and kind of key: the type of the key, and the key of a number.
KEYS = [
    pytest.param("postgres", "char(10)", "repeat(chr(97 + i % 3), 4) || i", marks=pytest.mark.postgres),
    pytest.param("postgres", "bit(8)", "i::bit(8)", marks=pytest.mark.postgres),
    pytest.param("postgres", "float8", "CASE i WHEN 7 THEN 'NaN'::float8 ELSE i END", marks=pytest.mark.postgres),
    pytest.param("postgres", "bytea", "decode(md5(i::text), 'hex')", marks=pytest.mark.postgres),
    pytest.param("mariadb", "binary(16)", "UNHEX(MD5(seq))", marks=pytest.mark.servers),
    pytest.param("mariadb", "varbinary(20)", "CONCAT(CHAR(seq), UNHEX('00FF'))", marks=pytest.mark.servers),
]  # fmt: skip


@pytest.mark.parametrize("database, kind, key", KEYS)
def test_chunks_are_complete_by_keys_of_all_types(
    request: pytest.FixtureRequest, database: str, kind: str, key: str
) -> None:
    shop, chance = request.getfixturevalue(database), random.Random(7)
    numbers = "generate_series(1, 100) AS i" if database == "postgres" else "seq_1_to_100"
    number = "i" if database == "postgres" else "seq"
    shop.run(f"CREATE TABLE items (id {kind} PRIMARY KEY, name text, price numeric(10))")
    if database == "postgres":
        shop.run("ALTER TABLE items REPLICA IDENTITY FULL")
    shop.run(f"INSERT INTO items SELECT {key}, 'x', {number} FROM {numbers}")
    reader = Reader(shop.capture())
    change = "UPDATE items SET price = price + 100 WHERE mod(price, 7) = 3"
    for _ in range(5):
        shop.run(change, f"DELETE FROM items WHERE price = {chance.randrange(100)}")
        reader.interrupted_step(chance, lambda: shop.run(change))
    reader.drain()
    assert reader.there() == texts(shop)
    reader.close()


@pytest.mark.parametrize("which", ["MOD(id, 2) = 1", "id < 1000"])
def test_rows_without_a_chunk_key_are_read(shop: Any, which: str) -> None:
    """NULL is behind all others in PostgreSQL, and before them in MariaDB."""
    shop.create()
    values = ", ".join(f"({id}, 'item', {id})" for id in range(60))
    shop.run(f"INSERT INTO items VALUES {values}", f"UPDATE items SET price = NULL WHERE {which}")
    chance = random.Random(3)
    reader = Reader(shop.capture(chunk_key="price"))

    def change() -> None:
        shop.run(f"UPDATE items SET name = 'n{chance.random()}' WHERE MOD(id, 5) = {chance.randrange(5)}")
        shop.run(f"DELETE FROM items WHERE id = {chance.randrange(60)}")

    for _ in range(6):
        change()
        reader.interrupted_step(chance, change)
    reader.drain()
    assert reader.there() == texts(shop)
    reader.close()


def test_a_chunk_key_that_changes_while_rows_are_read_is_an_error(shop: Any) -> None:
    """The row is in two chunks: by the primary key nobody could say which of them is deleted."""
    shop.create()
    values = ", ".join(f"({id}, 'item', {id})" for id in range(60))
    shop.run(f"INSERT INTO items VALUES {values}")
    reader = Reader(shop.capture(chunk_key="price"))
    reader.step()
    shop.run("UPDATE items SET price = 55.5 WHERE id = 2")
    reader.kill(reader.position)
    with pytest.raises(ScurryError, match="'price' of a row has changed while the table was read"):
        reader.drain()
    reader.close()


@pytest.mark.postgres
def test_a_snapshot_of_the_same_name_is_not_taken_for_another_one(postgres: PostgresShop) -> None:
    """A server that is started again counts its snapshots anew."""
    import psycopg

    postgres.create()
    postgres.run("INSERT INTO items VALUES (1, 'a', 1)")
    reader = Reader(postgres.capture())
    (work,) = reader.next_works()
    first = reader.content(reader.read([work]))
    postgres.run("INSERT INTO items VALUES (2, 'b', 2)", "UPDATE items SET name = 'z'")
    with psycopg.connect(postgres.server.conninfo) as other:
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        (name,) = other.execute("SELECT pg_export_snapshot()").fetchone() or ()
        assert reader.content(reader.read([work._replace(mark=[name, work.mark[1]])])) == first
    reader.close()


@pytest.mark.postgres
def test_a_snapshot_is_read_without_the_log(postgres: PostgresShop, monkeypatch: pytest.MonkeyPatch) -> None:
    postgres.create()
    postgres.run("INSERT INTO items VALUES (1, 'a', 1)")
    reader = Reader(postgres.capture())
    works = reader.next_works()
    monkeypatch.delattr(PostgresCapture, "_rows_as_of")
    assert reader.content(reader.read(works)) == [(0, "1", "a", "1.00")]
    reader.close()


@pytest.mark.postgres
def test_a_table_that_is_added_waits_for_transactions_that_write_it(
    postgres: PostgresShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they wrote before the publication had the table is not in what the slot gives."""
    import psycopg

    postgres.create()
    reader = Reader(postgres.capture("items|more"), adds_tables=True)
    reader.drain()
    postgres.run("CREATE TABLE more (LIKE items INCLUDING ALL)", "ALTER TABLE more REPLICA IDENTITY FULL")
    with psycopg.connect(postgres.server.conninfo) as other:
        other.execute("INSERT INTO more VALUES (2, 'b', 2)")
        reader.kill(reader.position)
        with monkeypatch.context() as patched, pytest.raises(ScurryError, match="a transaction has been open"):
            patched.setattr(session, "OPEN_SECONDS", 0.2)
            reader.step()
        reader.kill(reader.position)
        threading.Timer(0.3, other.commit).start()
        reader.drain()
    assert reader.there() == [("2", "b", "2.00")]
    reader.close()


@pytest.mark.postgres
def test_tables_that_are_added_are_read_by_readers_that_have_not_ended(postgres: PostgresShop) -> None:
    postgres.create()
    reader = Reader(postgres.capture("items.*"), adds_tables=True)
    reader.drain()
    postgres.run("CREATE TABLE items2 (LIKE items INCLUDING ALL)")
    postgres.run("INSERT INTO items2 SELECT i, 'n', i FROM generate_series(1, 50) AS i")
    reader.kill(reader.position)
    assert {each.channel for each in reader.assignments()} == {0}
    reader.close()


@pytest.mark.postgres
def test_values_out_of_line_that_did_not_change_are_undone_without_a_key(postgres: PostgresShop) -> None:
    postgres.run(
        "CREATE TABLE items (id integer, name text, price numeric(10, 2))",
        "ALTER TABLE items ALTER name SET STORAGE EXTERNAL",
        "ALTER TABLE items REPLICA IDENTITY FULL",
        "INSERT INTO items SELECT i, repeat('x', 9000), i FROM generate_series(1, 3) AS i",
    )
    reader = Reader(postgres.capture())
    works, after = reader.next_works(), reader.position
    postgres.run("UPDATE items SET price = 9 WHERE id = 1")
    reader.kill(after)
    reader.commit(reader.read(works))
    reader.drain()
    assert reader.there() == texts(postgres)
    reader.close()


@pytest.mark.postgres
def test_upserts_need_the_primary_key_of_the_row_before(postgres: PostgresShop) -> None:
    postgres.run(
        "CREATE TABLE items (id integer PRIMARY KEY, name text NOT NULL UNIQUE, price numeric(10, 2))",
        "ALTER TABLE items REPLICA IDENTITY USING INDEX items_name_key",
        "INSERT INTO items VALUES (1, 'a', 1)",
    )
    reader = Reader(postgres.capture(needs_before=False))
    reader.drain()
    postgres.run("DELETE FROM items")
    with pytest.raises(ScurryError, match="an index without all columns of the primary key"):
        reader.drain()
    reader.close()


@pytest.mark.postgres
def test_upserts_need_the_chunk_key_of_the_row_before_while_rows_are_read(postgres: PostgresShop) -> None:
    """Which chunk a deleted row was in decides whether it was read."""
    postgres.create("DEFAULT")
    postgres.run("INSERT INTO items SELECT i, 'n', i FROM generate_series(1, 60) AS i")
    reader = Reader(postgres.capture(needs_before=False, chunk_key="price"))
    reader.step()
    postgres.run("DELETE FROM items WHERE id = 3")
    reader.kill(reader.position)
    with pytest.raises(ScurryError, match="the row before has no 'price'"):
        reader.drain()
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
