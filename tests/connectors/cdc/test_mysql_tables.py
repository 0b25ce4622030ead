"""'connector' = 'mysql-cdc' on MariaDB: rows, changes, types, metadata, and the errors that say what to do."""

from __future__ import annotations

import datetime
import decimal
import time

import pytest

from scurry.errors import ScurryError
from scurry.table import TableEnvironment
from support.cdc.databases import MariaDbShop
from support.cdc.tables import environment, hints, rows

pytestmark = pytest.mark.servers

OFFSET_FILE = "scan.startup.specific-offset.file"
KEYED = "id INT, name STRING, price DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED"


def table(
    shop: MariaDbShop, columns: str = KEYED, streaming: bool = True, mode: dict[str, str] | None = None, **options: str
) -> TableEnvironment:
    env = environment(streaming)
    env.execute_sql(f"CREATE TABLE items ({columns}) WITH ({shop.options(**options, **(mode or {}))})")
    return env


def price(text: str) -> decimal.Decimal:
    return decimal.Decimal(text)


def test_rows_come_first_and_changes_after_them(mariadb: MariaDbShop) -> None:
    mariadb.create()
    mariadb.run("INSERT INTO items VALUES (1, 'tea', 2.5), (2, 'cup', NULL)")

    def change() -> None:
        mariadb.run(
            "INSERT INTO items VALUES (3, 'pot', 9)",
            "UPDATE items SET price = 3 WHERE id = 1",
            "UPDATE items SET id = 4 WHERE id = 2",
            "DELETE FROM items WHERE id = 3",
        )

    found = rows(table(mariadb), "SELECT * FROM items", 8, {2: change})
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


def test_types_are_the_same_in_rows_and_in_changes(mariadb: MariaDbShop) -> None:
    values = (
        "'2026-01-02 03:04:05.678', '2026-01-02 03:04:05.5', '1969-12-31', '12:34:56.5', true, x'00ff', x'01', "
        """'{"a": 1}', 'ok', 'a,c', 1.1, 2.5, 18446744073709551615, 42, b'1', b'101', 2026, 'ä', -1.05"""
    )
    mariadb.run(
        "SET time_zone = '+00:00'",
        "CREATE TABLE items (id integer PRIMARY KEY, at datetime(6), atz timestamp(3) NULL, d date, t time(3), "
        "ok boolean, raw_bytes blob, padded binary(3), js json, m enum('sad', 'ok'), s set('a', 'b', 'c'), f float, "
        "g double, big bigint unsigned, zeros int(5) zerofill, flag bit(1), bits bit(3), y year, "
        "latin varchar(10) CHARACTER SET latin1, n numeric(20, 9))",
        f"INSERT INTO items VALUES (1, {values})",
        "INSERT INTO items (id) VALUES (2)",
    )
    columns = (
        "id INT, `at` TIMESTAMP(6), atz TIMESTAMP_LTZ(3), d DATE, t TIME, ok BOOLEAN, raw_bytes BYTES, padded BYTES, "
        "js STRING, m STRING, s STRING, f FLOAT, g DOUBLE, big DECIMAL(20, 0), zeros BIGINT, flag BOOLEAN, bits BYTES, "
        "y INT, latin STRING, n DECIMAL(20, 9)"
    )

    def again() -> None:
        mariadb.run(f"INSERT INTO items VALUES (1 + 2, {values})", "INSERT INTO items (id) VALUES (4)")

    found = [row for _, row in rows(table(mariadb, columns), "SELECT * FROM items", 4, {2: again})]
    first = found[0]
    assert repr(found[2][1:]) == repr(first[1:])
    assert found[1][1:] == found[3][1:] == (None,) * 19
    assert first[1] == datetime.datetime(2026, 1, 2, 3, 4, 5, 678000)
    assert (first[2].seconds, first[2].nanos) == (1767323045, 500000000)
    assert first[3:8] == (datetime.date(1969, 12, 31), datetime.time(12, 34, 56, 500000), True, b"\0\xff", b"\1\0\0")
    assert first[8:11] == ('{"a": 1}', "ok", "a,c")
    assert first[11] == pytest.approx(1.1)
    assert first[12:15] == (2.5, price("18446744073709551615"), 42)
    assert first[15:] == (True, b"\5", 2026, "ä", price("-1.050000000"))


@pytest.mark.parametrize("zone, hour", [(None, 6), ("Asia/Shanghai", 14), ("+02:00", 8), ("America/New_York", 2)])
def test_moments_are_read_in_the_time_zone_of_the_server(mariadb: MariaDbShop, zone: str | None, hour: int) -> None:
    mariadb.run(
        "SET time_zone = '+00:00'",
        "CREATE TABLE items (id integer PRIMARY KEY, at timestamp(3) NULL, plain datetime(3))",
        "INSERT INTO items VALUES (1, '2026-07-02 06:00:00.5', '2026-07-02 06:00:00.5'), (2, NULL, NULL)",
    )
    env = table(
        mariadb, "id INT, `at` TIMESTAMP(3), plain TIMESTAMP(3)", mode={"server-time-zone": zone} if zone else None
    )
    change = {2: lambda: mariadb.run("INSERT INTO items SELECT 3, at, plain FROM items WHERE id = 1")}
    found = [row[1:] for _, row in rows(env, "SELECT * FROM items", 3, change)]
    moment = datetime.datetime(2026, 7, 2, hour, 0, 0, 500000), datetime.datetime(2026, 7, 2, 6, 0, 0, 500000)
    assert found == [moment, (None, None), moment]


def test_a_time_zone_that_does_not_exist_is_refused(mariadb: MariaDbShop) -> None:
    with pytest.raises(ScurryError) as raised:
        rows(table(mariadb, mode={"server-time-zone": "Mars/Base"}), "SELECT * FROM items", 1, {})
    assert "Mars/Base" in str(raised.value)


def test_zero_dates_are_null_in_rows_and_in_changes(mariadb: MariaDbShop) -> None:
    values = "'0000-00-00', '2026-00-10 00:00:00', '0000-00-00 00:00:00'"
    mariadb.run(
        "SET sql_mode = ''",
        "CREATE TABLE items (id integer PRIMARY KEY, d date, at datetime(3), atz timestamp NULL)",
        f"INSERT INTO items VALUES (1, {values})",
    )
    env = table(mariadb, "id INT, d DATE, `at` TIMESTAMP(3), atz STRING")
    change = {1: lambda: mariadb.run(f"INSERT INTO items VALUES (2, {values})", "DELETE FROM items WHERE id = 1")}
    found = rows(env, "SELECT * FROM items", 3, change)
    assert found == [("+I", (1, None, None, None)), ("+I", (2, None, None, None)), ("-D", (1, None, None, None))]


def test_tables_by_a_regular_expression_with_metadata(mariadb: MariaDbShop) -> None:
    for name in ("items_1", "items_2", "others"):
        mariadb.run(f"CREATE TABLE {name} (id integer PRIMARY KEY)", f"INSERT INTO {name} VALUES (1)")
    columns = (
        "id INT, d STRING METADATA FROM 'database_name' VIRTUAL, table_name STRING METADATA VIRTUAL, "
        "op_ts TIMESTAMP_LTZ(3) METADATA VIRTUAL, k STRING METADATA FROM 'row_kind' VIRTUAL"
    )
    env = table(mariadb, columns, mode={"table-name": "items_.*"})
    query = "SELECT table_name, d, k, op_ts FROM items"
    found = rows(env, query, 3, {2: lambda: mariadb.run("DELETE FROM items_2")})
    assert sorted(row[:3] for _, row in found[:2]) == [("items_1", "shop", "+I"), ("items_2", "shop", "+I")]
    assert found[2][1][:3] == ("items_2", "shop", "-D")
    assert abs(found[2][1][3].seconds - time.time()) < 30


def test_a_position_is_where_reading_begins(mariadb: MariaDbShop) -> None:
    mariadb.create()
    mariadb.run("INSERT INTO items VALUES (1, 'a', 1)")
    file, position = mariadb.rows("SHOW MASTER STATUS")[0][:2]
    mariadb.run("FLUSH BINARY LOGS", "INSERT INTO items VALUES (2, 'b', 1)")
    offset = {"scan.startup.mode": "specific-offset"}
    offset |= {"scan.startup.specific-offset.file": file, "scan.startup.specific-offset.pos": str(position)}
    env = table(mariadb, mode=offset)
    assert [row[0] for _, row in rows(env, "SELECT * FROM items", 1, {})] == [2]
    env = table(mariadb, mode=offset | {OFFSET_FILE: "binlog.000999"})
    with pytest.raises(ScurryError, match="the server has no binlog binlog.000999") as raised:
        rows(env, "SELECT * FROM items", 1, {})
    assert "'scan.startup.mode' = 'initial'" in hints(raised.value)


@pytest.mark.parametrize("streaming", [True, False])
def test_a_snapshot_ends(mariadb: MariaDbShop, streaming: bool) -> None:
    mariadb.create()
    mariadb.run("INSERT INTO items SELECT seq, 'n', seq FROM seq_1_to_50")
    env = table(mariadb, streaming=streaming, mode={"scan.startup.mode": "snapshot"})
    with env.execute_sql("SELECT COUNT(*), SUM(price) FROM items").collect() as results:
        assert tuple(list(results)[-1]) == (50, price("1275.00"))


WRONG = {
    "password": ({"password": "wrong"}, "Access denied", "'password'"),
    "host": ({"hostname": "no-such-host.invalid"}, "connect", "'hostname' = 'no-such-host.invalid'"),
    "port": ({"port": "1"}, "refused", "'port' = '1'"),
    "table": ({"table-name": "itms"}, "check your configured database-name: shop and table-name: itms", "shop.items"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_soon_with_the_option(mariadb: MariaDbShop, case: str) -> None:
    options, message, hint = WRONG[case]
    mariadb.create()
    env = table(mariadb, mode=options)
    began = time.monotonic()
    with pytest.raises(ScurryError) as raised:
        rows(env, "SELECT * FROM items", 1, {})
    assert time.monotonic() < began + 5
    assert message in str(raised.value)
    assert hint in hints(raised.value)


def test_the_rights_that_are_missing_are_named(mariadb: MariaDbShop) -> None:
    mariadb.create()
    mariadb.run("CREATE OR REPLACE USER reader IDENTIFIED BY 'r'", "GRANT SELECT ON shop.* TO reader")
    with pytest.raises(ScurryError) as raised:
        rows(table(mariadb, username="reader", password="r"), "SELECT * FROM items", 1, {})
    assert "GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT" in hints(raised.value)


def test_a_binlog_that_does_not_name_columns_is_refused(mariadb: MariaDbShop) -> None:
    mariadb.create()
    mariadb.run("SET GLOBAL binlog_row_metadata = 'NO_LOG'")
    try:
        with pytest.raises(ScurryError, match="binlog_row_metadata is NO_LOG") as raised:
            rows(table(mariadb), "SELECT * FROM items", 1, {})
        assert "set binlog_row_metadata = FULL" in hints(raised.value)
    finally:
        mariadb.run("SET GLOBAL binlog_row_metadata = 'FULL'")
