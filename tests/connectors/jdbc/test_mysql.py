"""Sinks, sources and lookups on a real MariaDB: what arrives, what is refused, and what happens when it dies."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest

from scurry.common import Row, Types
from scurry.connectors.jdbc import exactly_once
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.mysql_url import mysql_address
from scurry.connectors.sink import Sink, WriterContext
from scurry.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcLookup,
    JdbcSink,
    JdbcSource,
)
from scurry.errors import (
    ArgumentError,
    DatabaseAccessError,
    DatabaseConnectionError,
    RecordRejectedError,
    StatementError,
    UnsupportedError,
)
from support.connectors.jdbc_tables import Tables, connection_options

ROW = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
INSERT = "INSERT INTO target VALUES (?, ?)"
UPSERT = INSERT + " ON DUPLICATE KEY UPDATE name = VALUES(name)"
SINKS = [JdbcSink.sink, JdbcSink.exactly_once_sink]
ONE_TRY = JdbcExecutionOptions.builder().with_max_retries(0).build()
PATIENT = JdbcExecutionOptions.builder().with_batch_size(10).with_max_retries(6).build()


@pytest.fixture
def target(mariadb: Tables) -> Tables:
    mariadb.run("CREATE TABLE target (id integer PRIMARY KEY, name varchar(100) NOT NULL)")
    return mariadb


def people(*ids: int) -> list[Row]:
    return [Row(number, f"name {number}") for number in ids]


def write(sink: Sink, batch_id: int, *tasks: list[Row]) -> list[Any]:
    committables: list[Any] = []
    for subtask, records in enumerate(tasks):
        writer = sink.create_writer(WriterContext(subtask, len(tasks), batch_id, "sink"))
        writer.write(records)
        committables += writer.prepare_commit()
    return committables


def run(sink: Sink, *records: Row) -> None:
    sink.create_committer("sink").commit(0, write(sink, 0, list(records)))


def ids(target: Tables) -> list[int]:
    return [row[0] for row in target.rows("SELECT id FROM target ORDER BY id")]


#: column type -> declared type, value, type and value that are read
COLUMNS: dict[str, tuple[Any, Any]] = {
    "boolean": (Types.BOOLEAN(), True),
    "tinyint": (Types.BYTE(), -7),
    "smallint": (Types.SHORT(), 300),
    "integer": (Types.INT(), -(2**31)),
    "int unsigned": (Types.LONG(), 2**32 - 1),
    "bigint": (Types.LONG(), 2**62),
    "bigint unsigned": (Types.BIG_DEC(), 2**64 - 1),
    "float": (Types.FLOAT(), 0.5),
    "double": (Types.DOUBLE(), 0.1),
    "decimal(10,2)": (Types.BIG_DEC(), Decimal("1.10")),
    "longtext": (Types.STRING(), "it's 100 % \u00e4 ? \\ \" \U0001f600 %s"),
    "char(3)": (Types.STRING(), "x"),
    "json": (Types.STRING(), '{"a": [1]}'),
    "enum('glad', 'sad')": (Types.STRING(), "glad"),
    "blob": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\xff'"),
    "date": (Types.SQL_DATE(), datetime.date(2024, 2, 29)),
    "time(6)": (Types.SQL_TIME(), datetime.time(1, 2, 3, 4000)),
    "datetime(6)": (Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 29, 1, 2, 3, 4000)),
    "timestamp(3) null": (Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 29, 1, 2, 3, 4000)),
}


@pytest.mark.servers
class TestWriting:
    @pytest.mark.parametrize("make", SINKS)
    def test_values_of_all_types_and_none_are_read_again(
        self, make: Any, mariadb: Tables, drive: Callable[..., Any]
    ) -> None:
        names = [f"c{number}" for number in range(len(COLUMNS))]
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, COLUMNS, strict=True))
        mariadb.run(f"CREATE TABLE target ({columns})")
        declared, values = zip(*COLUMNS.values(), strict=True)
        row = Types.ROW_NAMED(names, list(declared))
        sink = make(f"INSERT INTO target VALUES ({','.join('?' * len(columns.split(', c')))})", row, mariadb.options)
        run(sink, Row(*values), Row(*[None] * len(names)))
        query = "SELECT * FROM target ORDER BY c0 DESC"
        source = JdbcSource.builder().set_connection_options(mariadb.options).set_sql(query).build()
        assert source.produced_type == row
        full, empty = drive(source).all()
        assert tuple(full) == values
        assert set(empty) == {None}

    @pytest.mark.parametrize("make", SINKS)
    def test_upsert(self, make: Any, target: Tables) -> None:
        target.run("INSERT INTO target VALUES (2, 'old')")
        run(make(UPSERT, ROW, target.options), *people(1, 2, 3), Row(1, "newest"))
        assert target.rows("SELECT * FROM target ORDER BY id") == [(1, "newest"), (2, "name 2"), (3, "name 3")]

    def test_rows_are_inserted_together_and_others_one_by_one(
        self, target: Tables, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("scurry.connectors.jdbc.mysql.INSERT_CHARACTERS", 50)
        run(JdbcSink.sink(INSERT, ROW, target.options), *people(*range(20)))
        assert ids(target) == list(range(20))
        change = "UPDATE target SET name = CONCAT(name, ?) WHERE id = ?"
        row = Types.ROW([Types.STRING(), Types.INT()])
        run(JdbcSink.sink(change, row, target.options), Row("!", 1), Row("?", 1), Row("#", 2))
        assert target.rows("SELECT name FROM target WHERE id IN (1, 2) ORDER BY id") == [("name 1!?",), ("name 2#",)]

    def test_sessions_are_in_utc(self, mariadb: Tables) -> None:
        mariadb.run("CREATE TABLE target (at timestamp)")
        row = Types.ROW([Types.SQL_TIMESTAMP()])
        run(JdbcSink.sink("INSERT INTO target VALUES (?)", row, mariadb.options), Row(datetime.datetime(1970, 1, 2)))
        assert mariadb.rows("SELECT UNIX_TIMESTAMP(at) FROM target") == [(86400,)]


@pytest.mark.servers
class TestFailing:
    def failure(self, target: Tables, sql: str = INSERT, row: Any = ROW, options: Any = None) -> Callable[[Row], None]:
        return lambda record: run(JdbcSink.sink(sql, row, options or target.options, ONE_TRY), record)

    def test_missing_table(self, target: Tables) -> None:
        with pytest.raises(StatementError, match=r"cannot write to jdbc:mariadb://.*: Table 'test.nowhere' doesn't"):
            self.failure(target, "INSERT INTO nowhere VALUES (?, ?)")(Row(1, "a"))

    def test_wrong_sql(self, target: Tables) -> None:
        with pytest.raises(StatementError, match="You have an error in your SQL syntax"):
            self.failure(target, "INSERT OR target VALUES (?, ?)")(Row(1, "a"))

    @pytest.mark.parametrize(
        ("record", "reason"),
        [(Row(3, None), "cannot be null"), (Row(1, "again"), "Duplicate entry"), (Row(3, "x" * 101), "Data too long")],
    )
    @pytest.mark.parametrize("make", SINKS)
    def test_a_bad_record_among_good_ones(self, make: Any, record: Row, reason: str, target: Tables) -> None:
        with pytest.raises(RecordRejectedError, match=reason) as error:
            run(make(INSERT, ROW, target.options), *people(1, 2), record, *people(4))
        assert list(error.value.record) == list(record)
        assert ids(target) == []

    @pytest.mark.parametrize(
        ("user", "password", "database", "reason"),
        [
            ("root", "wrong-horse", "test", "Access denied for user 'root'"),
            ("root", "", "nowhere", "Unknown database 'nowhere'"),
        ],
    )
    def test_no_access(self, target: Tables, user: str, password: str, database: str, reason: str) -> None:
        url = target.options.get_db_url().replace("/test", f"/{database}")
        with pytest.raises(DatabaseAccessError, match=reason) as error:
            self.failure(target, options=connection_options(url, user, password))(Row(1, "a"))
        assert "wrong-horse" not in str(error.value)
        assert "'username'" in error.value.describe()

    def test_nobody_there(self, target: Tables) -> None:
        with pytest.raises(DatabaseConnectionError) as error:
            self.failure(target, options=connection_options("jdbc:mysql://127.0.0.1:1/db", "u", "p"))(Row(1, "a"))
        assert "'url'" in error.value.describe()

    def test_tls_that_the_server_lacks(self, target: Tables) -> None:
        url = target.options.get_db_url() + "?sslMode=verify-full"
        with pytest.raises(DatabaseAccessError, match="SSL is required but the server doesn't support it"):
            self.failure(target, options=connection_options(url, "root", ""))(Row(1, "a"))

    def test_a_server_without_tls_is_reached_by_mysqls_url(self, target: Tables) -> None:
        url = target.options.get_db_url().replace("mariadb", "mysql")
        self.failure(target, options=connection_options(url, "root", ""))(Row(1, "a"))
        assert ids(target) == [1]

    def test_a_session_that_was_ended_is_made_anew(self, target: Tables) -> None:
        options = JdbcExecutionOptions.builder().with_batch_size(10).build()
        writer = JdbcSink.sink(INSERT, ROW, target.options, options).create_writer(WriterContext(0, 1, 0, "sink"))
        writer.write(people(*range(10)))
        for (session,) in target.rows("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()"):
            target.run(f"KILL {session}")
        writer.write(people(*range(10, 25)))
        writer.prepare_commit()
        assert ids(target) == list(range(25))


@pytest.mark.servers
class TestExactlyOnce:
    @pytest.fixture(autouse=True, params=[0, 10**6], ids=["staged", "carried"])
    def carried(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(exactly_once, "CARRIED_CHARACTERS", request.param)

    @pytest.fixture
    def sink(self, target: Tables) -> Sink:
        return JdbcSink.exactly_once_sink(INSERT, ROW, target.options, PATIENT)

    def test_nothing_is_seen_before_the_commit(self, sink: Sink, target: Tables) -> None:
        committables = write(sink, 0, people(*range(30)))
        assert ids(target) == []
        sink.create_committer("sink").commit(0, committables)
        assert ids(target) == list(range(30))

    def test_a_batch_repeated_by_other_tasks_is_written_once(self, sink: Sink, target: Tables) -> None:
        sink.create_committer("sink").commit(0, write(sink, 0, people(*range(20)), people(20)))
        again = write(sink, 0, people(*range(5)), people(*range(5, 13)), people(*range(13, 21)))
        sink.create_committer("sink").commit(0, again)
        assert ids(target) == list(range(21))
        assert target.rows("SELECT count(*) FROM scurry_staging") == [(0,)]

    def test_two_drivers_that_commit_the_same_batch(self, sink: Sink, target: Tables) -> None:
        batches = [write(sink, 0, people(*range(50))) for _ in range(4)]
        threads = [threading.Thread(target=sink.create_committer("sink").commit, args=(0, batch)) for batch in batches]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ids(target) == list(range(50))

    def test_a_server_killed_within_the_commit(
        self, sink: Sink, target: Tables, mariadb_revived_after: Callable[[float], None]
    ) -> None:
        target.run("CREATE TRIGGER slow BEFORE INSERT ON target FOR EACH ROW DO SLEEP(0.02)")
        committables = write(sink, 0, people(*range(60)))
        killing = threading.Timer(0.6, mariadb_revived_after, [0.5])
        killing.start()
        sink.create_committer("sink").commit(0, committables)
        killing.join()
        assert ids(target) == list(range(60))

    def test_texts_longer_than_a_text_column_and_blocks_longer_than_a_packet(
        self, target: Tables, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(exactly_once, "BLOCK_CHARACTERS", 500_000)
        target.run("ALTER TABLE target MODIFY name longtext")
        sink = JdbcSink.exactly_once_sink(INSERT, ROW, target.options)
        run(sink, *(Row(number, "x" * 200_000) for number in range(9)))
        assert target.rows("SELECT count(*), min(length(name)) FROM target") == [(9, 200_000)]

    def test_a_table_without_transactions_is_refused(self, sink: Sink, target: Tables) -> None:
        target.run("ALTER TABLE target ENGINE=Aria")
        with pytest.raises(UnsupportedError, match="the table target of .* has ENGINE=Aria, which has no transactions"):
            run(sink, *people(1))
        assert ids(target) == []


@pytest.mark.servers
class TestReading:
    def test_a_query_may_have_anything_in_it(self, target: Tables, drive: Callable[..., Any]) -> None:
        target.run("INSERT INTO target VALUES (1, 'a%'), (2, 'b?')")
        query = "SELECT id FROM target WHERE name LIKE '%\\%' OR name = 'b?' -- 100 % of them?"
        source = JdbcSource.builder().set_connection_options(target.options).set_sql(query).build()
        assert sorted(row.id for row in drive(source).all()) == [1, 2]

    def test_partitions(self, target: Tables, drive: Callable[..., Any]) -> None:
        run(JdbcSink.sink(INSERT, ROW, target.options), *people(*range(50)))
        source = JdbcSource.builder().set_connection_options(target.options).set_sql("SELECT id FROM target")
        by_channel = drive(source.set_partitions("id", 0, 49, 5).build(), parallelism=2).by_channel()
        assert sorted(row.id for rows in by_channel.values() for row in rows) == list(range(50))

    def test_what_is_not_read_to_its_end_leaves_no_connection(self, target: Tables) -> None:
        run(JdbcSink.sink(INSERT, ROW, target.options), *people(*range(500)))
        with closing(database_of(target.options).read("SELECT id FROM target ORDER BY id", [], 10)) as rows:  # type: ignore[type-var]
            assert next(rows)[0] == (0,)

    def test_looks_up_rows(self, target: Tables) -> None:
        run(JdbcSink.sink(INSERT, ROW, target.options), *people(1, 2))
        lookup = JdbcLookup("SELECT name FROM target WHERE id = ?", target.options)
        assert [row.name for row in lookup.rows(2)] == ["name 2"]
        assert lookup.one(3) is None
        lookup.close()


class TestUrls:
    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("jdbc:mysql://host/db", {"host": "host", "port": 3306, "database": "db"}),
            ("jdbc:mariadb://[::1]:3307/", {"host": "::1", "port": 3307, "database": None}),
            ("jdbc:mysql://h/db?user=u&password=p%26", {"user": "u", "password": "p&"}),
            ("jdbc:mysql://h/db?connectTimeout=2500&socketTimeout=0", {"connect_timeout": 2, "read_timeout": None}),
            ("jdbc:mysql://h/db?useUnicode=true&characterEncoding=UTF-8&serverTimezone=UTC", {}),
        ],
    )
    def test_arguments(self, url: str, expected: dict[str, Any]) -> None:
        arguments = mysql_address(JdbcConnectionOptions(url)).arguments
        assert {name: arguments[name] for name in expected} == expected

    @pytest.mark.parametrize(
        ("url", "tls"),
        [
            ("jdbc:mysql://h/db", "preferred"),
            ("jdbc:mariadb://h/db", "disabled"),
            ("jdbc:mysql://h/db?useSSL=false", "disabled"),
            ("jdbc:mariadb://h/db?useSSL=true", "required"),
            ("jdbc:mysql://h/db?sslMode=VERIFY_IDENTITY", "verify-full"),
        ],
    )
    def test_tls(self, url: str, tls: str) -> None:
        address = mysql_address(JdbcConnectionOptions(url))
        assert address.tls == tls
        assert set(address.tls_arguments()) == {"preferred": set(), "disabled": {"ssl_disabled"}}.get(tls, {"ssl"})

    @pytest.mark.parametrize("url", ["jdbc:mysql://a,b/db", "jdbc:mysql://u:p@h/db", "jdbc:mysql:db"])
    def test_is_none(self, url: str) -> None:
        with pytest.raises(ArgumentError, match="is no URL of one server like jdbc:mysql://host:3306/database"):
            mysql_address(JdbcConnectionOptions(url))

    @pytest.mark.parametrize(
        ("parameter", "reason"),
        [
            ("serverTimezone=Asia/Shanghai", "can only be UTC"),
            ("allowMultiQueries=true", "is not known; there are allowPublicKeyRetrieval, "),
            ("zeroDateTimeBehavior=convertToNull", "or its value, is not known"),
        ],
    )
    def test_parameters_that_are_not_supported(self, parameter: str, reason: str) -> None:
        with pytest.raises(UnsupportedError, match=reason):
            mysql_address(JdbcConnectionOptions(f"jdbc:mysql://h/db?{parameter}"))
