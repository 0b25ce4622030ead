"""'connector' = 'postgres-cdc': rows, changes, types, metadata, and the errors that say what to do."""

from __future__ import annotations

import datetime
import decimal
import time

import pytest

from scurry.errors import ScurryError
from scurry.table import TableEnvironment
from support.cdc.databases import PostgresShop
from support.cdc.tables import environment, hints, rows

pytestmark = pytest.mark.postgres

ITEMS = "id INT, name STRING, price DECIMAL(10, 2)"
UPSERT = {"changelog-mode": "upsert"}
KEYED = f"{ITEMS}, PRIMARY KEY (id) NOT ENFORCED"


def table(
    shop: PostgresShop,
    columns: str = KEYED,
    streaming: bool = True,
    mode: dict[str, str] | None = None,
    **options: str,
) -> TableEnvironment:
    env = environment(streaming)
    env.execute_sql(f"CREATE TABLE items ({columns}) WITH ({shop.options(**options, **(mode or {}))})")
    return env


def price(text: str) -> decimal.Decimal:
    return decimal.Decimal(text)


def test_rows_come_first_and_changes_after_them(postgres: PostgresShop) -> None:
    postgres.create()
    postgres.run("INSERT INTO items VALUES (1, 'tea', 2.5), (2, 'cup', NULL)")

    def change() -> None:
        postgres.run(
            "INSERT INTO items VALUES (3, 'pot', 9)",
            "UPDATE items SET price = 3 WHERE id = 1",
            "UPDATE items SET id = 4 WHERE id = 2",
            "DELETE FROM items WHERE id = 3",
        )

    found = rows(table(postgres), "SELECT * FROM items", 8, {2: change})
    assert found == [
        ("+I", (1, "tea", price("2.50"))),
        ("+I", (2, "cup", None)),
        ("+I", (3, "pot", price("9.00"))),
        ("-U", (1, "tea", price("2.50"))),
        ("+U", (1, "tea", price("3.00"))),
        ("-D", (2, "cup", None)),
        ("+I", (4, "cup", None)),
        ("-D", (3, "pot", price("9.00"))),
    ]


def test_types_are_the_same_in_rows_and_in_changes(postgres: PostgresShop) -> None:
    values = (
        "'2026-01-02 03:04:05.678', '2026-01-02 03:04:05.678901+02', '1969-12-31', '12:34:56.5', true, '\\x00ff', "
        """'{"a": 1}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ARRAY['a', 'b "c"', NULL], ARRAY[1, NULL], 'ok', """
        "1.1, 'NaN', 9223372036854775807, 12345678.123456789, B'101', '', 'line\nbreak, \"quoted\"'"
    )
    postgres.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE items (id integer PRIMARY KEY, at timestamp, atz timestamptz, d date, t time, ok boolean, "
        "raw_bytes bytea, js jsonb, u uuid, texts text[], ints int[], m mood, f real, g float8, big bigint, n numeric, "
        "bits bit(3), nothing text, lines text)",
        "ALTER TABLE items REPLICA IDENTITY FULL",
        f"INSERT INTO items VALUES (1, {values})",
        "INSERT INTO items VALUES (2)",
    )
    columns = (
        "id INT, `at` TIMESTAMP(3), atz TIMESTAMP_LTZ(6), d DATE, t TIME, ok BOOLEAN, raw_bytes BYTES, js STRING, "
        "u STRING, texts ARRAY<STRING>, ints ARRAY<INT>, m STRING, f FLOAT, g DOUBLE, big BIGINT, n DECIMAL(20, 9), "
        "bits STRING, nothing STRING, lines STRING"
    )
    query = "SELECT *, CAST(ok AS STRING) FROM items"

    def again() -> None:
        postgres.run(f"INSERT INTO items VALUES (1 + 2, {values})", "INSERT INTO items VALUES (4)")

    found = [row for _, row in rows(table(postgres, columns), query, 4, {2: again})]
    first = found[0]
    assert repr(found[2][1:]) == repr(first[1:])
    assert found[1][1:] == found[3][1:] == (None,) * 19
    assert first[1] == datetime.datetime(2026, 1, 2, 3, 4, 5, 678000)
    assert (first[2].seconds, first[2].nanos) == (1767315845, 678901000)
    assert first[3:7] == (datetime.date(1969, 12, 31), datetime.time(12, 34, 56, 500000), True, b"\x00\xff")
    assert first[7:9] == ('{"a": 1}', "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
    assert first[9:12] == (["a", 'b "c"', None], [1, None], "ok")
    assert first[12] == pytest.approx(1.1) and str(first[13]) == "nan"
    assert first[14:] == (2**63 - 1, price("12345678.123456789"), "101", "", 'line\nbreak, "quoted"', "TRUE")


def test_metadata_say_where_a_row_is_from_and_when_it_changed(postgres: PostgresShop) -> None:
    postgres.create()
    postgres.run("INSERT INTO items VALUES (1, 'tea', 2.5)")
    columns = (
        f"{ITEMS}, s STRING METADATA FROM 'schema_name' VIRTUAL, table_name STRING METADATA VIRTUAL, "
        "d STRING METADATA FROM 'database_name' VIRTUAL, op_ts TIMESTAMP_LTZ(3) METADATA VIRTUAL, "
        "k STRING METADATA FROM 'row_kind' VIRTUAL"
    )
    began = time.time()
    query = "SELECT s, table_name, d, k, op_ts FROM items"
    found = rows(table(postgres, columns), query, 2, {1: lambda: postgres.run("DELETE FROM items")})
    assert [row[:4] for _, row in found] == [("public", "items", "scurry", "+I"), ("public", "items", "scurry", "-D")]
    assert found[0][1][4].seconds == 0
    assert began - 1 <= found[1][1][4].seconds <= time.time() + 1


def test_several_tables_are_one(postgres: PostgresShop) -> None:
    for name in ("items_1", "items_2", "others"):
        postgres.run(
            f"CREATE TABLE {name} (id integer PRIMARY KEY, name text)", f"INSERT INTO {name} VALUES (1, '{name}')"
        )
    found = rows(table(postgres, table="items_.*"), "SELECT name, price FROM items", 2, {})
    assert sorted(row for _, row in found) == [("items_1", None), ("items_2", None)]


def test_upserts_need_no_row_before(postgres: PostgresShop) -> None:
    postgres.create("DEFAULT")
    postgres.run("INSERT INTO items VALUES (1, 'tea', 2), (2, 'cup', 3)")

    def change() -> None:
        postgres.run("UPDATE items SET price = 4 WHERE id = 1", "DELETE FROM items WHERE id = 2")

    env = table(postgres, mode=UPSERT)
    found = rows(env, "SELECT * FROM items", 5, {2: change})
    assert found[2:] == [
        ("-U", (1, "tea", price("2.00"))),
        ("+U", (1, "tea", price("4.00"))),
        ("-D", (2, "cup", price("3.00"))),
    ]


def test_all_changes_as_rows(postgres: PostgresShop) -> None:
    postgres.create()
    postgres.run("INSERT INTO items VALUES (1, 'tea', 2)")
    env = table(postgres, ITEMS, mode={"scan.read-changelog-as-append-only.enabled": "true"})
    found = rows(env, "SELECT * FROM items", 2, {1: lambda: postgres.run("DELETE FROM items")})
    assert found == [("+I", (1, "tea", price("2.00")))] * 2


@pytest.mark.parametrize("slot", [False, True])
def test_latest_offset_reads_changes_only(postgres: PostgresShop, slot: bool) -> None:
    postgres.create()
    if slot:
        postgres.run("SELECT pg_create_logical_replication_slot('shop', 'pgoutput')")
    postgres.run("INSERT INTO items VALUES (1, 'tea', 2)")
    ((end,),) = postgres.rows("SELECT pg_current_wal_lsn()::text")
    env = table(postgres, mode={"scan.startup.mode": "latest-offset"})

    def later() -> None:
        started = f"SELECT 1 FROM pg_replication_slots WHERE confirmed_flush_lsn >= '{end}'"
        while not postgres.rows(started):
            time.sleep(0.05)
        time.sleep(0.5)
        postgres.run("INSERT INTO items VALUES (3, 'c', 2)")

    assert [row[0] for _, row in rows(env, "SELECT * FROM items", 1, {0: later})] == [3]


def test_the_committed_offset_is_that_of_the_slot(postgres: PostgresShop) -> None:
    postgres.create()
    env = table(postgres, mode={"scan.startup.mode": "committed-offset"})
    with pytest.raises(ScurryError, match="there is no replication slot 'shop'"):
        rows(env, "SELECT * FROM items", 1, {})
    postgres.run(
        "INSERT INTO items VALUES (1, 'tea', 2)",
        "SELECT pg_create_logical_replication_slot('shop', 'pgoutput')",
        "INSERT INTO items VALUES (2, 'b', 2)",
    )
    assert [row[0] for _, row in rows(env, "SELECT * FROM items", 1, {})] == [2]


def test_a_slot_that_is_older_than_the_publication_is_refused(postgres: PostgresShop) -> None:
    postgres.create()
    postgres.run("SELECT pg_create_logical_replication_slot('shop', 'pgoutput')")
    with pytest.raises(ScurryError, match="older than publication") as raised:
        rows(table(postgres), "SELECT * FROM items", 1, {})
    assert "SELECT pg_drop_replication_slot('shop')" in hints(raised.value)


@pytest.mark.parametrize("streaming", [True, False])
def test_a_snapshot_ends_and_leaves_no_slot(postgres: PostgresShop, streaming: bool) -> None:
    postgres.create()
    postgres.run("INSERT INTO items SELECT i, 'n', i FROM generate_series(1, 50) AS i")
    chunked = {"scan.startup.mode": "snapshot", "scan.incremental.snapshot.chunk.size": "20"}
    env = table(postgres, streaming=streaming, mode=chunked)
    with env.execute_sql("SELECT COUNT(*), SUM(price) FROM items").collect() as results:
        assert tuple(list(results)[-1]) == (50, price("1275.00"))
    assert postgres.rows("SELECT * FROM pg_replication_slots") == []


def test_a_snapshot_leaves_a_slot_that_was_there(postgres: PostgresShop) -> None:
    postgres.create()
    postgres.run("SELECT pg_create_logical_replication_slot('shop', 'pgoutput')")
    env = table(postgres, mode={"scan.startup.mode": "snapshot"})
    with env.execute_sql("SELECT * FROM items").collect() as results:
        assert list(results) == []
    assert postgres.rows("SELECT slot_name FROM pg_replication_slots") == [("shop",)]


WRONG = {
    "password": ({"password": "wrong"}, "authentication failed", "'password'"),
    "host": ({"hostname": "no-such-host.invalid"}, "resolve", "'hostname' = 'no-such-host.invalid'"),
    "port": ({"port": "1"}, "refused", "'port' = '1'"),
    "database": ({"database-name": "other"}, "does not exist", "'database-name' = 'other'"),
    "table": ({"table-name": "itms"}, "check your configured schema-name: public and table-name: itms", "public.items"),
    "key": (
        {"scan.incremental.snapshot.chunk.key-column": "x"},
        "Chunk key column 'x' doesn't exist",
        "scan.incremental.snapshot.chunk.key-column",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_soon_with_the_option(postgres: PostgresShop, case: str) -> None:
    options, message, hint = WRONG[case]
    postgres.create()
    env = table(postgres, mode=options)
    began = time.monotonic()
    with pytest.raises(ScurryError) as raised:
        rows(env, "SELECT * FROM items", 1, {})
    assert time.monotonic() < began + 5
    assert message in str(raised.value)
    assert hint in hints(raised.value)


def test_the_rights_that_are_missing_are_named(postgres: PostgresShop) -> None:
    postgres.create()
    postgres.run(
        "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN PASSWORD 'r'", "GRANT SELECT ON items TO reader"
    )
    env = table(postgres, username="reader", password="r")
    with pytest.raises(ScurryError, match="CREATE PUBLICATION") as raised:
        rows(env, "SELECT * FROM items", 1, {})
    assert "owner" in hints(raised.value)
    postgres.run("CREATE PUBLICATION dbz_publication FOR TABLE items")
    with pytest.raises(ScurryError, match="replication") as raised:
        rows(env, "SELECT * FROM items", 1, {})
    assert 'ALTER ROLE "reader" REPLICATION' in hints(raised.value)


def test_an_update_without_the_row_before_says_what_to_alter(postgres: PostgresShop) -> None:
    postgres.create("DEFAULT")
    postgres.run("INSERT INTO items VALUES (1, 'tea', 2)")
    with pytest.raises(ScurryError, match="the row before an update is not known") as raised:
        rows(table(postgres), "SELECT * FROM items", 2, {1: lambda: postgres.run("UPDATE items SET price = 3")})
    assert "ALTER TABLE public.items REPLICA IDENTITY FULL" in hints(raised.value)


def test_values_out_of_line_that_an_update_leaves_need_the_whole_row(postgres: PostgresShop) -> None:
    postgres.create("DEFAULT")
    postgres.run(
        "ALTER TABLE items ALTER name SET STORAGE EXTERNAL", "INSERT INTO items VALUES (1, repeat('x', 9000), 2)"
    )
    change = "UPDATE items SET price = 3"
    with pytest.raises(ScurryError, match="'name'") as raised:
        rows(table(postgres, mode=UPSERT), "SELECT * FROM items", 3, {1: lambda: postgres.run(change)})
    assert "REPLICA IDENTITY FULL" in hints(raised.value)
    postgres.run("SELECT pg_drop_replication_slot('shop')", "ALTER TABLE items REPLICA IDENTITY FULL")
    found = rows(
        table(postgres), "SELECT CHAR_LENGTH(name), price FROM items", 3, {1: lambda: postgres.run(change + " + 1")}
    )
    assert found[2] == ("+U", (9000, price("4.00")))
