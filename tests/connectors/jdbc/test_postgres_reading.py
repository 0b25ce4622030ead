"""Source and lookup on a real PostgreSQL."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from scurry.common import Row, Types
from scurry.connectors.source import ChunkSizer
from scurry.datastream.connectors.jdbc import JdbcLookup, JdbcSource
from scurry.errors import DatabaseAccessError, DatabaseConnectionError, StatementError
from support.connectors.jdbc_tables import Tables, connection_options

pytestmark = pytest.mark.postgres

DAY = datetime.date(2024, 2, 29)

#: column type, value in SQL -> declared type, value in Python
COLUMNS: dict[str, tuple[str, Any, Any]] = {
    "boolean": ("true", Types.BOOLEAN(), True),
    "smallint": ("7", Types.SHORT(), 7),
    "integer": ("7", Types.INT(), 7),
    "bigint": (str(2**62), Types.LONG(), 2**62),
    "real": ("0.5", Types.FLOAT(), 0.5),
    "double precision": ("0.1", Types.DOUBLE(), 0.1),
    "numeric(10,2)": ("1.1", Types.BIG_DEC(), Decimal("1.10")),
    "text": ("'x'", Types.STRING(), "x"),
    "varchar(3)": ("'x'", Types.STRING(), "x"),
    "char(3)": ("'x'", Types.STRING(), "x  "),
    "bytea": (r"'\x00ff'", Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\xff"),
    "date": ("'2024-02-29'", Types.SQL_DATE(), DAY),
    "time": ("'01:02:03'", Types.SQL_TIME(), datetime.time(1, 2, 3)),
    "timestamp": ("'2024-02-29 01:02:03'", Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 29, 1, 2, 3)),
    "timestamptz": ("'2024-02-29 01:02:03+02'", Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 28, 23, 2, 3)),
    "jsonb": ("""'{"a": [1]}'""", Types.STRING(), '{"a": [1]}'),
    "uuid": ("'00000000-0000-0000-0000-000000000001'", Types.STRING(), "00000000-0000-0000-0000-000000000001"),
    "interval": ("'1 day 2 hours'", Types.STRING(), "1 day 02:00:00"),
    "int4range": ("'[1,5)'", Types.STRING(), "[1,5)"),
    "inet": ("'10.0.0.1'", Types.STRING(), "10.0.0.1"),
    "integer[]": ("'{1,NULL}'", Types.BASIC_ARRAY(Types.INT()), [1, None]),
    "text[]": ("'{a,b}'", Types.BASIC_ARRAY(Types.STRING()), ["a", "b"]),
    "date[]": ("'{2024-02-29}'", Types.OBJECT_ARRAY(Types.SQL_DATE()), [DAY]),
    "mood": ("'glad'", Types.STRING(), "glad"),
}


def builder(tables: Tables, sql: str) -> Any:
    return JdbcSource.builder().set_connection_options(tables.options).set_sql(sql)


class TestSource:
    def test_has_the_types_of_the_columns(self, postgres: Tables, drive: Callable[..., Any]) -> None:
        postgres.run("CREATE TYPE mood AS ENUM ('glad', 'sad')")
        names = [f"c{number}" for number in range(len(COLUMNS))]
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, COLUMNS, strict=True))
        postgres.run(f"CREATE TABLE kinds ({columns})")
        postgres.run(f"INSERT INTO kinds VALUES ({', '.join(sql for sql, _, _ in COLUMNS.values())})")
        postgres.run("INSERT INTO kinds DEFAULT VALUES")
        source = builder(postgres, "SELECT * FROM kinds ORDER BY c1").build()
        assert source.produced_type == Types.ROW_NAMED(names, [kind for _, kind, _ in COLUMNS.values()])
        full, empty = drive(source).all()
        assert full == Row(**{name: value for name, (_, _, value) in zip(names, COLUMNS.values(), strict=True)})
        assert set(empty) == {None}

    def test_reads_partitions_by_date(self, postgres: Tables, drive: Callable[..., Any]) -> None:
        postgres.run("CREATE TABLE days AS SELECT date '2024-01-01' + n AS day FROM generate_series(0, 99) AS n")
        source = builder(postgres, "SELECT day FROM days").set_partitions(
            "day", datetime.date(2024, 1, 1), datetime.date(2024, 3, 1), 7
        )
        by_channel = drive(source.build(), parallelism=3).by_channel()
        assert sorted(row.day for rows in by_channel.values() for row in rows) == [
            datetime.date(2024, 1, 1) + datetime.timedelta(n) for n in range(100)
        ]
        assert all(by_channel.values())

    def test_a_split_is_of_one_moment(self, postgres: Tables) -> None:
        postgres.run("CREATE TABLE numbers AS SELECT n, 0 AS version FROM generate_series(1, 30) AS n")
        source = builder(postgres, "SELECT version FROM numbers").set_result_set_fetch_size(10).build()
        versions = set()
        for rows, _ in source.read((0, 1), ChunkSizer(10)):
            versions |= {row.version for row in rows}
            postgres.run("UPDATE numbers SET version = version + 1")
        assert versions == {0}

    def test_a_query_may_have_anything_in_it(self, postgres: Tables, drive: Callable[..., Any]) -> None:
        sql = """SELECT '100 % ?' AS text, '{"a":1}'::jsonb ? 'a' AS has -- really?;"""
        assert drive(builder(postgres, sql).build()).all() == [Row(text="100 % ?", has=True)]

    def test_wrong_sql(self, postgres: Tables) -> None:
        with pytest.raises(StatementError, match="cannot read from .*syntax error"):
            builder(postgres, "SELEKT 1").build()

    def test_missing_table(self, postgres: Tables) -> None:
        with pytest.raises(StatementError, match='relation "nowhere" does not exist'):
            builder(postgres, "SELECT * FROM nowhere").build()

    def test_missing_partition_column(self, postgres: Tables, drive: Callable[..., Any]) -> None:
        with pytest.raises(StatementError, match='column "b" does not exist'):
            drive(builder(postgres, "SELECT 1 AS a").set_partitions("b", 0, 10, 2).build()).all()

    def test_wrong_password(self, postgres: Tables) -> None:
        options = connection_options(postgres.options.get_db_url(), "scurry", "hunter2-secret")
        with pytest.raises(DatabaseAccessError, match="password authentication failed") as caught:
            JdbcSource.builder().set_connection_options(options).set_sql("SELECT 1").build()
        assert "hunter2" not in str(caught.value)

    def test_a_server_that_dies_while_it_is_read(
        self, postgres: Tables, revived_after: Callable[[float], None]
    ) -> None:
        postgres.run("CREATE TABLE numbers AS SELECT n, repeat('x', 1000) FROM generate_series(1, 20000) AS n")
        source = builder(postgres, "SELECT * FROM numbers").set_result_set_fetch_size(100).build()
        chunks = source.read((0, 1), ChunkSizer(100))
        next(chunks)
        revived_after(0.1)
        with pytest.raises(DatabaseConnectionError, match="cannot read from jdbc:postgresql:"):
            list(chunks)


class TestLookup:
    @pytest.fixture
    def lookup(self, postgres: Tables) -> JdbcLookup:
        postgres.run("CREATE TABLE people (id integer PRIMARY KEY, name text, data jsonb)")
        postgres.run("INSERT INTO people SELECT n, 'name ' || n, '{}' FROM generate_series(1, 100) AS n")
        return JdbcLookup("SELECT name, data FROM people WHERE id = ?", postgres.options, max_retries=6)

    def test_finds_rows(self, lookup: JdbcLookup) -> None:
        assert lookup.rows(7) == (Row(name="name 7", data="{}"),)
        assert lookup.one(0) is None
        lookup.close()

    def test_serves_many_threads(self, lookup: JdbcLookup) -> None:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lookup.one, list(range(1, 101)) * 2))
        assert [row.name for row in found if row is not None] == [f"name {n}" for n in range(1, 101)] * 2
        lookup.close()

    def test_goes_on_when_the_server_is_back(self, lookup: JdbcLookup, revived_after: Callable[[float], None]) -> None:
        lookup.rows(1)
        revived_after(0.5)
        assert lookup.one(2) == Row(name="name 2", data="{}")
        lookup.close()

    def test_leaves_no_transaction_open(self, lookup: JdbcLookup, postgres: Tables) -> None:
        lookup.rows(1)
        open_ones = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
        assert postgres.rows(open_ones) == [(0,)]
        lookup.close()

    def test_wrong_sql(self, postgres: Tables) -> None:
        with pytest.raises(StatementError, match='cannot look up in .*relation "nowhere" does not exist'):
            JdbcLookup("SELECT * FROM nowhere WHERE id = ?", postgres.options).rows(1)
