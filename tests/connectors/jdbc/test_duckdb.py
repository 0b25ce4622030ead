"""DuckDB files as tables: written, read, looked up, written exactly once and by pipelines."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Row, Types
from scurry.connectors.jdbc.duckdb import DuckDbConnection
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.jdbc import JdbcSink, JdbcSource
from scurry.errors import ArgumentError, JobError
from scurry.sql.pipelines.changes import ColumnHistory, SinkTable
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.pipelines.databases import DatabaseTarget
from scurry.sql.types import BigIntType, IntType, VarCharType
from scurry.table import EnvironmentSettings, TableEnvironment
from support import TESTS
from support.connectors.jdbc_tables import Tables, connection_options

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def duck(tmp_path: Path) -> Tables:
    path = str(tmp_path / "there.duckdb")
    return Tables(connection_options(f"jdbc:duckdb:{path}"), lambda: duckdb.connect(path))


@pytest.fixture
def env() -> TableEnvironment:
    configuration = Configuration().set_string("scurry.runner", "local").set_string("parallelism.default", "2")
    return TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())


def define(env: TableEnvironment, duck: Tables, columns: str, name: str = "t") -> None:
    url = duck.options.get_db_url()
    env.execute_sql(
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'jdbc', 'url' = '{url}', 'table-name' = '{name}')"
    )


def found(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as rows:
        return sorted((tuple(row) for row in rows), key=str)


def test_rows_that_were_written_are_read(env: TableEnvironment, duck: Tables) -> None:
    types = "i INT, s STRING, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, dt DATE, ts TIMESTAMP(6), tm TIME, y BYTES"
    duck.run(
        "CREATE TABLE t (i int, s text, d decimal(10, 2), f double, b boolean, dt date, ts timestamp, tm time, y blob)"
    )
    define(env, duck, types)
    values = (
        "1, 'a', 1.25, CAST(0.5 AS DOUBLE), TRUE, DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03.123456', "
        "TIME '01:02:03', x'00ff'"
    )
    env.execute_sql(f"INSERT INTO t SELECT {values}").wait()
    row = (
        1, "a", Decimal("1.25"), 0.5, True, datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 123456), datetime.time(1, 2, 3), b"\x00\xff",
    )  # fmt: skip
    assert duck.rows("SELECT * FROM t") == [row]
    assert [tuple(each) for each in found(env, "SELECT * FROM t")] == [row]


def test_rows_are_replaced_and_deleted_by_key(env: TableEnvironment, duck: Tables) -> None:
    duck.run("CREATE TABLE t (k int PRIMARY KEY, v bigint)")
    define(env, duck, "k INT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED")
    given = ", ".join(f"({number % 5})" for number in range(18))  # 0, 1 and 2 have four rows, 3 and 4 three
    env.execute_sql(
        f"INSERT INTO t SELECT k, COUNT(*) FROM (VALUES {given}) AS s (k) GROUP BY k HAVING COUNT(*) < 4"
    ).wait()
    assert duck.rows("SELECT * FROM t ORDER BY k") == [(3, 3), (4, 3)]


def test_rows_are_looked_up(env: TableEnvironment, duck: Tables) -> None:
    duck.run("CREATE TABLE t (k int PRIMARY KEY, v text)")
    duck.run("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
    define(env, duck, "k INT, v STRING")
    env.execute_sql("CREATE VIEW orders AS SELECT id, PROCTIME() AS p FROM (VALUES (1), (3)) AS s (id)")
    query = "SELECT o.id, t.v FROM orders AS o LEFT JOIN t FOR SYSTEM_TIME AS OF o.p ON o.id = t.k"
    assert found(env, query) == [(1, "one"), (3, None)]


@pytest.mark.parametrize("make", [JdbcSink.sink, JdbcSink.exactly_once_sink])
def test_streams_are_written_and_read(make: Any, duck: Tables) -> None:
    duck.run("CREATE TABLE target (id integer, name text)")
    row = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("scurry.runner", "local"))
    env.set_parallelism(2)
    records = [Row(number, f"name {number}") for number in range(1000)]
    env.from_collection(records, row).add_sink(make("INSERT INTO target VALUES (?, ?)", row, duck.options))
    env.execute()
    assert duck.rows("SELECT * FROM target ORDER BY id") == [tuple(record) for record in records]
    source = JdbcSource.builder().set_connection_options(duck.options).set_sql("SELECT * FROM target").build()
    from scurry.common import WatermarkStrategy

    with env.from_source(source, WatermarkStrategy.no_watermarks(), "t").execute_and_collect() as found:
        assert sorted(each.id for each in found) == list(range(1000))


def test_a_value_that_a_column_refuses_is_named(duck: Tables) -> None:
    duck.run("CREATE TABLE target (id integer, name text NOT NULL)")
    row = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("scurry.runner", "local"))
    records = [Row(1, "a"), Row(2, None), Row(3, "c")]
    sink = JdbcSink.sink("INSERT INTO target VALUES (?, ?)", row, duck.options)
    env.from_collection(records, row).add_sink(sink).name("people")
    with pytest.raises(JobError, match="NOT NULL constraint failed") as caught:
        env.execute()
    assert "record: Row(id=2, name=None)" in str(caught.value)
    assert duck.rows("SELECT * FROM target") == []


def test_a_missing_table_is_named_with_the_statement_that_makes_it(env: TableEnvironment, duck: Tables) -> None:
    define(env, duck, "k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED")
    with pytest.raises(JobError, match=r"create it there first: CREATE TABLE .*t.* \(k INT.*PRIMARY KEY"):
        env.execute_sql("INSERT INTO t VALUES (1, 'a')").wait()


def test_a_file_that_another_process_has_says_what_to_do(env: TableEnvironment, duck: Tables, tmp_path: Path) -> None:
    duck.run("CREATE TABLE t (k int PRIMARY KEY)")
    opening = f"connection = duckdb.connect({str(tmp_path / 'there.duckdb')!r})"
    program = f"import duckdb, sys; {opening}; print(1, flush=True); sys.stdin.read()"
    define(env, duck, "k INT, PRIMARY KEY (k) NOT ENFORCED")
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline()
        try:
            with pytest.raises(JobError, match="one process has a DuckDB file at a time; run the job in one"):
                env.execute_sql("INSERT INTO t VALUES (1)").wait()
        finally:
            other.kill()


@pytest.mark.parametrize("url", ["jdbc:duckdb:", "jdbc:duckdb::memory:", "jdbc:duckdb:x?y=1", "jdbc:duckdb:md:db"])
def test_urls_without_a_file_are_refused(url: str) -> None:
    from scurry.connectors.jdbc.drivers import database_of

    with pytest.raises(ArgumentError, match="give the path of a file"):
        database_of(connection_options(url))


def test_errors_are_known_beside_a_library_that_translates_them(tmp_path: Path) -> None:
    """A client built with pybind11, imported after DuckDB, makes RuntimeErrors of DuckDB's errors."""
    pytest.importorskip("pulsar")
    program = (
        "import duckdb, pulsar\n"
        "from scurry.connectors.jdbc.drivers import database_of\n"
        "from support.connectors.jdbc_tables import connection_options\n"
        f"database = database_of(connection_options('jdbc:duckdb:{tmp_path / 'there.duckdb'}'))\n"
        "connection = database.open(True)\n"
        "connection.execute('CREATE TABLE t (a int NOT NULL)')\n"
        "statements = 'SELECT', 'SELECT * FROM u', 'INSERT INTO t VALUES (NULL)', \"SELECT CAST('a' AS int)\"\n"
        "for statement in statements:\n"
        "    try:\n"
        "        database.open(True).execute(statement).fetchall()\n"
        "    except database.errors as error:\n"
        "        print(type(error).__name__, database.fault(error).name, database.lacks_table(error))\n"
    )
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    assert printed.splitlines() == [
        "ParserException STATEMENT False",
        "CatalogException STATEMENT True",
        "ConstraintException RECORD False",
        "ConversionException RECORD False",
    ]


def test_many_rows_are_one_statement_unless_a_key_may_come_twice() -> None:
    class Recorded:
        statements: list[str]

        def __init__(self) -> None:
            self.statements = []

        def execute(self, sql: str, parameters: Any = ()) -> None:
            self.statements.append(sql)

    recorded = Recorded()
    connection = DuckDbConnection(recorded, True)
    connection.executemany("INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING", [(n, 1) for n in range(600)])
    assert [sql.count("(?, ?)") for sql in recorded.statements] == [500, 100]
    assert recorded.statements[1].endswith("(?, ?) ON CONFLICT DO NOTHING")
    recorded.statements.clear()
    upsert = "INSERT INTO t(a, b) VALUES (?, ?) ON CONFLICT (a, b) DO NOTHING"
    connection.executemany(upsert, [(1, 1), (1, 2)])
    assert recorded.statements == [upsert.replace("(?, ?)", "(?, ?), (?, ?)")]
    recorded.statements.clear()
    insert = "INSERT INTO t VALUES (?, ?) ON CONFLICT DO NOTHING"
    connection.executemany(insert, [(1, 1), (1, 2)])
    connection.executemany("DELETE FROM t WHERE a = ?", [(1,), (2,)])
    assert recorded.statements == [insert] * 2 + ["DELETE FROM t WHERE a = ?"] * 2


def test_a_pipeline_changes_its_columns(duck: Tables) -> None:
    target = DatabaseTarget((("url", duck.options.get_db_url()),))
    kinds = (IntType(), VarCharType(9), VarCharType(9), IntType())
    first = TableColumns(("id", "name", "note", "amount"), kinds, ("id",))
    now = TableColumns(("id", "title", "amount", "size"), (IntType(), VarCharType(9), BigIntType(), IntType()), ("id",))
    target.prepare(SinkTable("ods.orders", first))
    duck.run("INSERT INTO ods.orders VALUES (1, 'a', 'x', 5)")
    target.prepare(SinkTable("ods.orders", now, history=ColumnHistory((("name", "title"),), ("note",), ("amount",))))
    assert duck.rows("SELECT id, title, amount, size FROM ods.orders") == [(1, "a", 5, None)]
    described = dict(row[:2] for row in duck.rows("DESCRIBE ods.orders"))
    assert described == {"id": "INTEGER", "title": "VARCHAR", "amount": "BIGINT", "size": "INTEGER"}
