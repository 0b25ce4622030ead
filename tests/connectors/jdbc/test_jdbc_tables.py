"""Tables of databases: `'connector' = 'jdbc'`."""

from __future__ import annotations

from decimal import Decimal

import pytest

from scurry.common.types import Row
from scurry.connectors.ranges import NumericRanges
from scurry.errors import UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.connectors.jdbc_tables import Tables


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    """In both modes: they deal the pieces of a table in different ways."""
    settings = EnvironmentSettings.new_instance()
    settings = settings.in_batch_mode() if request.param == "batch" else settings.in_streaming_mode()
    made = TableEnvironment.create(settings.build())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return made


def define(env: TableEnvironment, tables: Tables, columns: str, **options: str) -> None:
    """Define the table `t` of a database as the table `t`."""
    connection = tables.options
    given = {"connector": "jdbc", "url": connection.get_db_url(), "table-name": "t"}
    if connection.get_user_name() is not None:
        given |= {"username": str(connection.get_user_name()), "password": str(connection.get_password())}
    given |= {key.replace("_", "."): value for key, value in options.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({listed})")


def rows(env: TableEnvironment, query: str) -> list[Row]:
    with env.execute_sql(query).collect() as found:
        return list(found)


COLUMNS = "i INT, s STRING, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, dt DATE, ts TIMESTAMP(6), tm TIME"
CREATE = "create table t (i int, s varchar, d numeric, f double precision, b boolean, dt date, ts timestamp, tm time)"
VALUES = (
    "(1, 'a', CAST(1.25 AS DECIMAL(10, 2)), CAST(0.5 AS DOUBLE), TRUE, DATE '2024-02-29', "
    "TIMESTAMP '2024-02-29 01:02:03.123456', TIME '01:02:03')"
)
NULLS = "CAST(NULL AS INT), " + ", ".join(
    f"CAST(NULL AS {kind})"
    for kind in ("STRING", "DECIMAL(10, 2)", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP(6)", "TIME")
)


def read_what_was_written(env: TableEnvironment, tables: Tables, create: str = CREATE) -> None:
    tables.run(create)
    define(env, tables, COLUMNS)
    env.execute_sql(f"INSERT INTO t VALUES {VALUES}").wait()
    env.execute_sql(f"INSERT INTO t SELECT {NULLS}").wait()
    texts = ", ".join(f"CAST({name} AS STRING)" for name in ("i", "s", "d", "f", "b", "dt", "ts", "tm"))
    found = sorted((tuple(row) for row in rows(env, f"SELECT {texts} FROM t")), key=str)
    assert found == [
        ("1", "a", "1.25", "0.5", "TRUE", "2024-02-29", "2024-02-29 01:02:03.123456", "01:02:03"),
        (None,) * 8,
    ]
    assert [row[0] for row in rows(env, "SELECT COUNT(*) FROM t")][-1] == 2


def test_sqlite_rows_that_were_written_are_read(env: TableEnvironment, sqlite: Tables) -> None:
    read_what_was_written(env, sqlite)


@pytest.mark.postgres
def test_postgres_rows_that_were_written_are_read(env: TableEnvironment, postgres: Tables) -> None:
    read_what_was_written(env, postgres)


@pytest.mark.servers
def test_mariadb_rows_that_were_written_are_read(env: TableEnvironment, mariadb: Tables) -> None:
    columns = "i int, s text, d decimal(10, 2), f double, b boolean, dt date, ts datetime(6), tm time"
    read_what_was_written(env, mariadb, f"create table t ({columns})")


def write_by_key(env: TableEnvironment, tables: Tables) -> None:
    tables.run("create table t (k int primary key, v varchar(9))")
    define(env, tables, "k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED")
    env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')").wait()
    env.execute_sql("INSERT INTO t VALUES (2, 'c'), (3, 'd')").wait()
    assert sorted(map(tuple, tables.rows("select * from t"))) == [(1, "a"), (2, "c"), (3, "d")]


def test_sqlite_rows_with_a_key_are_replaced(env: TableEnvironment, sqlite: Tables) -> None:
    write_by_key(env, sqlite)


def test_rows_are_deleted_and_replaced_in_flushes_of_two(env: TableEnvironment, sqlite: Tables) -> None:
    sqlite.run("create table t (k int primary key, v int)")
    define(env, sqlite, "k INT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED", **{"sink_buffer-flush_max-rows": "2"})
    given = ", ".join(f"({number % 5})" for number in range(18))  # 0, 1 and 2 have four rows, 3 and 4 three
    env.execute_sql(
        f"INSERT INTO t SELECT k, COUNT(*) FROM (VALUES {given}) AS s (k) GROUP BY k HAVING COUNT(*) < 4"
    ).wait()
    assert sorted(map(tuple, sqlite.rows("select * from t"))) == [(3, 3), (4, 3)]


@pytest.mark.postgres
def test_postgres_rows_with_a_key_are_replaced(env: TableEnvironment, postgres: Tables) -> None:
    write_by_key(env, postgres)


@pytest.mark.servers
def test_mariadb_rows_with_a_key_are_replaced(env: TableEnvironment, mariadb: Tables) -> None:
    write_by_key(env, mariadb)


@pytest.mark.servers
def test_mariadb_rows_are_deleted_updated_and_truncated(mariadb: Tables) -> None:
    env = TableEnvironment.create(EnvironmentSettings.new_instance().in_batch_mode().build())
    env.get_config().set("scurry.runner", "local")
    mariadb.run("create table t (k int primary key, v varchar(9))")
    mariadb.run("insert into t values (1, 'a'), (2, 'b'), (3, 'c')")
    define(env, mariadb, "k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED")
    env.execute_sql("DELETE FROM t WHERE k = 1").wait()
    env.execute_sql("UPDATE t SET v = 'new' WHERE k = 2").wait()
    assert mariadb.rows("select * from t order by k") == [(2, "new"), (3, "c")]
    env.execute_sql("TRUNCATE TABLE t").wait()
    assert mariadb.rows("select * from t") == []


def read_ranges(env: TableEnvironment, tables: Tables) -> None:
    tables.run("create table t (i int)")
    tables.run("insert into t values " + ", ".join(f"({i})" for i in range(20)))
    partition = {"num": "3", "lower-bound": "2", "upper-bound": "11", "column": "i"}
    define(env, tables, "i INT", **{f"scan_partition_{key}": value for key, value in partition.items()})
    assert sorted(row[0] for row in rows(env, "SELECT i FROM t")) == list(range(2, 12))


def test_ranges_leave_out_what_is_beyond_the_bounds(env: TableEnvironment, sqlite: Tables) -> None:
    read_ranges(env, sqlite)


@pytest.mark.servers
def test_mariadb_is_read_in_ranges(env: TableEnvironment, mariadb: Tables) -> None:
    read_ranges(env, mariadb)


def test_ranges_are_as_even_as_flinks() -> None:
    assert NumericRanges("i", 0, 10, 3).all() == [(0, 3), (4, 7), (8, 10)]
    assert NumericRanges("i", 1, 2, 5).all() == [(1, 1), (2, 2)]


def test_decimals_are_rounded_to_the_scale(env: TableEnvironment, sqlite: Tables) -> None:
    sqlite.run("create table t (d text)")
    sqlite.run("insert into t values ('1.005')")
    define(env, sqlite, "d DECIMAL(4, 2)")
    assert rows(env, "SELECT d FROM t") == [Row(Decimal("1.01"))]


def refused(env: TableEnvironment, columns: str, options: str) -> str:
    env.execute_sql(f"CREATE TABLE w ({columns}) WITH ('connector' = 'jdbc', {options})")
    with pytest.raises((ValidationError, UnsupportedError)) as error:
        env.execute_sql("SELECT * FROM w")
    return str(error.value)


SQLITE = "'url' = 'jdbc:sqlite:/nowhere', 'table-name' = 't'"


def test_a_missing_table_name_is_named(env: TableEnvironment) -> None:
    assert refused(env, "a INT", "'url' = 'jdbc:sqlite:/x'").startswith(
        "One or more required options are missing.\nMissing required options are: table-name\n"
    )


def test_partition_options_are_given_together(env: TableEnvironment) -> None:
    assert refused(env, "a INT", SQLITE + ", 'scan.partition.column' = 'a'").startswith(
        "Either all or none of the following options should be provided:\nscan.partition.column\nscan.partition.num\n"
        "scan.partition.lower-bound\nscan.partition.upper-bound"
    )


def test_types_that_the_database_has_not_are_refused(env: TableEnvironment) -> None:
    assert "dialect doesn't support type: MAP<STRING, INT>." in refused(env, "a MAP<STRING, INT>", SQLITE)


@pytest.mark.postgres
def test_a_catalog_shows_the_tables_of_a_server(env: TableEnvironment, postgres: Tables) -> None:
    postgres.run("create table t (k int primary key, v varchar(5), n numeric(6, 2), ts timestamp(3), a int[])")
    postgres.run("insert into t values (1, 'a', 1.5, '2024-02-29 01:02:03.5', '{1,2}')")
    base, _, database = postgres.options.get_db_url().rpartition("/")
    user, password = postgres.options.get_user_name(), postgres.options.get_password()
    env.execute_sql(
        f"CREATE CATALOG pg WITH ('type' = 'jdbc', 'base-url' = '{base}', 'default-database' = '{database}', "
        f"'username' = '{user}', 'password' = '{password}')"
    )
    env.execute_sql("USE CATALOG pg")
    assert rows(env, "SHOW TABLES") == [Row("public.t")]
    described = [tuple(row)[:4] for row in rows(env, "DESCRIBE `public.t`")]
    assert described == [
        ("k", "INT", False, "PRI(k)"),
        ("v", "VARCHAR(5)", True, None),
        ("n", "DECIMAL(6, 2)", True, None),
        ("ts", "TIMESTAMP(3)", True, None),
        ("a", "ARRAY<INT>", True, None),
    ]
    assert rows(env, "SELECT k, v, CAST(n AS STRING), a[2] FROM t") == [Row(1, "a", "1.50", 2)]


@pytest.mark.servers
def test_a_catalog_shows_the_tables_of_mariadb(env: TableEnvironment, mariadb: Tables) -> None:
    mariadb.run(
        "create table t (k bigint unsigned primary key, v varchar(5) not null, n decimal(6, 2), ts datetime(3), "
        "b boolean, t text, y blob, small smallint unsigned, m enum('x', 'y'))"
    )
    mariadb.run("insert into t values (1, 'a', 1.5, '2024-02-29 01:02:03.5', true, 'x', 'z', 7, 'y')")
    base, _, database = mariadb.options.get_db_url().rpartition("/")
    env.execute_sql(
        f"CREATE CATALOG my WITH ('type' = 'jdbc', 'base-url' = '{base}', 'default-database' = '{database}', "
        f"'username' = 'root', 'password' = '')"
    )
    env.execute_sql("USE CATALOG my")
    assert Row("information_schema") not in rows(env, "SHOW DATABASES")
    assert rows(env, "SHOW TABLES") == [Row("t")]
    assert [tuple(row)[:4] for row in rows(env, "DESCRIBE t")] == [
        ("k", "DECIMAL(20, 0)", False, "PRI(k)"),
        ("v", "VARCHAR(5)", False, None),
        ("n", "DECIMAL(6, 2)", True, None),
        ("ts", "TIMESTAMP(3)", True, None),
        ("b", "BOOLEAN", True, None),
        ("t", "STRING", True, None),
        ("y", "BYTES", True, None),
        ("small", "INT", True, None),
        ("m", "STRING", True, None),
    ]
    found = rows(env, "SELECT CAST(k AS INT), v, CAST(n AS STRING), CAST(ts AS STRING), b, t, y, small, m FROM t")
    assert found == [Row(1, "a", "1.50", "2024-02-29 01:02:03.500", True, "x", b"z", 7, "y")]


def test_a_catalog_needs_its_options(env: TableEnvironment) -> None:
    with pytest.raises(
        ValidationError,
        match="base-url, default-database, password\nUnable to create catalog 'pg'",
    ):
        env.execute_sql("CREATE CATALOG pg WITH ('type' = 'jdbc', 'username' = 'u')")
