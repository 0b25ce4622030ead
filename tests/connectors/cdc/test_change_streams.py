"""MySqlSource and PostgresIncrementalSource: rows and changes as Debezium writes them, in streams."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Configuration, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.cdc import (
    JsonDebeziumDeserializationSchema,
    MySqlSource,
    PostgresSourceBuilder,
    StartupOptions,
)
from scurry.errors import ScurryError
from support.cdc.databases import MariaDbShop, PostgresShop

DATABASES = [
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("mariadb", marks=pytest.mark.servers),
]
NUMERIC = {"decimal.format": "numeric"}


@pytest.fixture(params=DATABASES)
def shop(request: pytest.FixtureRequest) -> Any:
    """An empty database."""
    return request.getfixturevalue(request.param)


def builder(shop: Any, tables: str = "items", **formats: str) -> Any:
    schema = JsonDebeziumDeserializationSchema(custom_converter_configs=formats or NUMERIC)
    if shop.dialect == "mysql":
        made: Any = MySqlSource.builder().username("root").password("").database_list("shop")
        return made.hostname("127.0.0.1").port(shop.server.port).table_list(rf"shop\.{tables}").deserializer(schema)
    made = PostgresSourceBuilder.PostgresIncrementalSource.builder().username("scurry").password("correct-horse")
    made = made.database("scurry").schema_list("public").slot_name("shop").decoding_plugin_name("pgoutput")
    return made.hostname("127.0.0.1").port(shop.server.port).table_list(rf"public\.{tables}").deserializer(schema)


def read(source: Any, count: int, meanwhile: dict[int, Callable[[], None]] | None = None) -> list[dict[str, Any]]:
    """The first records of a source."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("scurry.runner", "local"))
    env.set_parallelism(2)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "changes")
    found = []
    with stream.execute_and_collect() as texts:
        for text in itertools.islice(texts, count):
            found.append(json.loads(text))
            if meanwhile and len(found) in meanwhile:
                meanwhile[len(found)]()
    return found


def short(record: dict[str, Any]) -> tuple[str, Any, Any]:
    return record["op"], record["before"], record["after"]


def test_rows_and_changes_are_records_of_debezium(shop: Any) -> None:
    shop.create()
    shop.run("INSERT INTO items VALUES (1, 'tea \"%s\"', 2.5)")

    def change() -> None:
        shop.run(
            "INSERT INTO items VALUES (2, 'pot', NULL)",
            "UPDATE items SET price = 3 WHERE id = 1",
            "UPDATE items SET id = 3 WHERE id = 2",
            "DELETE FROM items WHERE id = 1",
        )

    found = read(builder(shop).build(), 6, {1: change})
    tea, tea_later = ({"id": 1, "name": 'tea "%s"', "price": price} for price in (2.5, 3))
    pot, moved = ({"id": id, "name": "pot", "price": None} for id in (2, 3))
    assert [short(each) for each in found] == [
        ("r", None, tea),
        ("c", None, pot),
        ("u", tea, tea_later),
        ("d", pot, None),
        ("c", None, moved),
        ("d", tea_later, None),
    ]
    row, inserted = found[0]["source"], found[1]["source"]
    if shop.dialect == "mysql":
        names = {"connector": "mysql", "name": "mysql_binlog_source", "db": "shop", "table": "items"}
        assert set(inserted) - set(row) == {"file", "pos"}
    else:
        names = {
            "connector": "postgresql", "name": "postgres_cdc_source", "db": "scurry", "schema": "public",
            "table": "items",
        }  # fmt: skip
        assert set(inserted) - set(row) == {"lsn"}
    assert row == {**names, "ts_ms": 0, "snapshot": "false"}
    assert inserted["ts_ms"] == found[1]["ts_ms"] > 1_700_000_000_000


def test_a_snapshot_ends(shop: Any) -> None:
    shop.create()
    numbers = "generate_series(1, 50) AS s(seq)" if shop.dialect == "postgres" else "seq_1_to_50"
    shop.run(f"INSERT INTO items SELECT seq, 'x', seq FROM {numbers}")
    source = builder(shop).startup_options(StartupOptions.snapshot()).split_size(7).build()
    assert sorted(each["after"]["id"] for each in read(source, 100)) == list(range(1, 51))


def test_changes_have_the_columns_that_their_table_had(shop: Any) -> None:
    """A column that is renamed keeps its values in earlier records, however late they are read."""
    shop.create()

    def change() -> None:
        shop.run(
            "INSERT INTO items VALUES (1, 'tea', 1)",
            "ALTER TABLE items ADD COLUMN size integer",
            "INSERT INTO items VALUES (2, 'cup', 1, 7)",
            "ALTER TABLE items RENAME COLUMN name TO title",
            "INSERT INTO items VALUES (3, 'pot', 1, 8)",
            "ALTER TABLE items DROP COLUMN price",
            "INSERT INTO items VALUES (4, 'can', 9)",
        )

    shop.run("CREATE TABLE other (id integer PRIMARY KEY)", "INSERT INTO other VALUES (0)")
    found = read(builder(shop, "(items|other)").build(), 5, {1: change})
    assert [each["after"] for each in found[1:]] == [
        {"id": 1, "name": "tea", "price": 1},
        {"id": 2, "name": "cup", "price": 1, "size": 7},
        {"id": 3, "title": "pot", "price": 1, "size": 8},
        {"id": 4, "title": "can", "size": 9},
    ]


@pytest.mark.postgres
def test_values_of_postgres_are_those_of_debezium(postgres: PostgresShop) -> None:
    postgres.run(
        "CREATE TABLE items (id bigint PRIMARY KEY, b boolean, r real, d double precision, n numeric(10, 2), day date, "
        "t time, ts timestamp(3), micros timestamp, tz timestamptz, raw bytea, tags text[], doc jsonb, bits bit(9), "
        "v varchar(5))",
        "ALTER TABLE items REPLICA IDENTITY FULL",
    )
    values = (
        "true, 0.1, 'NaN', -12.34, '1970-01-03', '01:00:00.5', '1970-01-01 00:00:01.5', '1970-01-01 00:00:01.5', "
        "'2026-01-31 12:00:00.25+02', '\\x00ff', ARRAY['a', NULL], '{\"a\": 1}', B'000000101', 'x'"
    )
    postgres.run(f"INSERT INTO items VALUES (1, {values})")
    change = {1: lambda: postgres.run(f"INSERT INTO items VALUES (2, {values})")}
    first, second = (
        each["after"] for each in read(builder(postgres, **{"decimal.format": "base64"}).build(), 2, change)
    )
    assert first | {"id": 2} == second
    digits = base64.b64decode(first.pop("n"))
    assert int.from_bytes(digits, "big", signed=True) == -1234
    assert first == {
        "id": 1, "b": True, "r": 0.1, "d": "NaN", "day": 2, "t": 3_600_500_000, "ts": 1500, "micros": 1_500_000,
        "tz": "2026-01-31T10:00:00.25Z", "raw": "AP8=", "tags": ["a", None], "doc": '{"a": 1}', "bits": "BQA=",
        "v": "x",
    }  # fmt: skip


@pytest.mark.servers
def test_values_of_mariadb_are_those_of_debezium(mariadb: MariaDbShop) -> None:
    mariadb.run(
        "CREATE TABLE items (id bigint unsigned PRIMARY KEY, t tinyint(1), f float, n decimal(10, 2), day date, "
        "tm time(3), ts datetime(3), micros datetime(6), tz timestamp(2), raw blob, one bit(1), bits bit(9), y year, "
        "e enum('a', 'b'), s set('a', 'b'))",
        "SET time_zone = '+02:00'",
    )
    values = (
        "2, 0.1, -12.34, '1970-01-03', '-01:00:00.5', '1970-01-01 00:00:01.5', '1970-01-01 00:00:01.5', "
        "'2026-01-31 12:00:00.25', x'00ff', b'1', b'000000101', 2026, 'b', 'a,b'"
    )
    mariadb.run(f"INSERT INTO items VALUES (18446744073709551615, {values})")
    change = {1: lambda: mariadb.run(f"INSERT INTO items VALUES (2, {values})")}
    first, second = (each["after"] for each in read(builder(mariadb).build(), 2, change))
    assert first | {"id": 2} == second
    assert first == {
        "id": 18446744073709551615, "t": 2, "f": 0.1, "n": -12.34, "day": 2, "tm": -3_600_500_000, "ts": 1500,
        "micros": 1_500_000, "tz": "2026-01-31T10:00:00.25Z", "raw": "AP8=", "one": True, "bits": "BQA=", "y": 2026,
        "e": "b", "s": "a,b",
    }  # fmt: skip


@pytest.mark.postgres
def test_rows_before_are_given_as_far_as_the_log_has_them(postgres: PostgresShop) -> None:
    postgres.create("DEFAULT")
    postgres.run("INSERT INTO items VALUES (1, 'tea', 1)")
    change = {1: lambda: postgres.run("UPDATE items SET price = 2", "DELETE FROM items")}
    found = read(builder(postgres).build(), 3, change)
    assert [short(each) for each in found[1:]] == [
        ("u", None, {"id": 1, "name": "tea", "price": 2}),
        ("d", {"id": 1, "name": None, "price": None}, None),
    ]


@pytest.mark.servers
def test_reading_begins_at_a_time(mariadb: MariaDbShop) -> None:
    mariadb.create()
    mariadb.run(
        "SET timestamp = UNIX_TIMESTAMP() + 100", "INSERT INTO items VALUES (1, 'a', 1)", "FLUSH BINARY LOGS",
        "SET timestamp = UNIX_TIMESTAMP() + 50", "INSERT INTO items VALUES (2, 'b', 1)",
    )  # fmt: skip
    ((second,),) = mariadb.rows("SELECT UNIX_TIMESTAMP()")
    mariadb.run("INSERT INTO items VALUES (3, 'c', 1)", "SET timestamp = DEFAULT")
    source = builder(mariadb).startup_options(StartupOptions.timestamp(second * 1000)).build()
    assert [each["after"]["id"] for each in read(source, 2)] == [2, 3]


@pytest.mark.servers
@pytest.mark.parametrize("rotates", [False, True])
def test_reading_begins_behind_a_gtid_of_mariadb(mariadb: MariaDbShop, rotates: bool) -> None:
    mariadb.create()
    mariadb.run("INSERT INTO items VALUES (1, 'a', 1)")
    ((gtid,),) = mariadb.rows("SELECT @@gtid_binlog_pos")
    mariadb.run(*["FLUSH BINARY LOGS"] * rotates, "INSERT INTO items VALUES (2, 'b', 1)")
    source = builder(mariadb).startup_options(StartupOptions.specific_offset(gtid)).build()
    assert [each["after"]["id"] for each in read(source, 1)] == [2]


GTIDS = {
    "24DA167-0C0C-11E8-8442-00059A3C7B00:1-19": "those of MySQL are not read",
    "0-1-5,1-1-5": "the position is that of one domain",
    "first": "is no GTID of MariaDB",
    "0-1-99999999": "has not come to GTID 0-1-99999999",
}


@pytest.mark.servers
@pytest.mark.parametrize("gtid", GTIDS)
def test_a_gtid_that_cannot_be_found_is_an_error(mariadb: MariaDbShop, gtid: str) -> None:
    mariadb.create()
    with pytest.raises(ScurryError, match=GTIDS[gtid]):
        read(builder(mariadb).startup_options(StartupOptions.specific_offset(gtid)).build(), 1)
