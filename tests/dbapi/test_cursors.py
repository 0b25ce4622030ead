"""Cursors of PEP 249, over sessions of this process and over a gateway."""

from __future__ import annotations

import datetime
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scurry import dbapi

VALUES = "SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, 'c')) AS t(n, s) ORDER BY n"
#: A row each 100 ms, for ever.
ENDLESS = "CREATE TEMPORARY TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')"


def rows_of(connection: dbapi.Connection, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    return connection.execute(statement, parameters).fetchall()


def files(connection: dbapi.Connection, path: Path, columns: str = "n INT, s STRING") -> None:
    connection.execute(
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}/t', 'format' = 'json')"
    )


def test_the_module_says_which_standard_it_follows() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")


def test_rows_are_fetched_one_by_one_some_at_a_time_and_all(connection: dbapi.Connection) -> None:
    cursor = connection.execute(VALUES)
    assert cursor.fetchone() == (1, "a")
    assert cursor.fetchmany(1) == [(2, "b")]
    assert cursor.fetchall() == [(3, "c")]
    assert (cursor.fetchone(), cursor.fetchmany(2), cursor.fetchall()) == (None, [], [])


def test_fetchmany_returns_arraysize_rows(connection: dbapi.Connection) -> None:
    cursor = connection.execute(VALUES)
    cursor.arraysize = 2
    assert [len(cursor.fetchmany()) for _ in range(3)] == [2, 1, 0]


def test_a_cursor_iterates_over_its_rows(connection: dbapi.Connection) -> None:
    assert [n for n, _ in connection.execute(VALUES)] == [1, 2, 3]


def test_the_number_of_rows_is_known_at_the_end(connection: dbapi.Connection) -> None:
    cursor = connection.execute(VALUES)
    before = cursor.rowcount
    cursor.fetchall()
    assert (before, cursor.rowcount) == (-1, 3)


def test_the_description_names_columns_and_types(connection: dbapi.Connection) -> None:
    cursor = connection.execute("SELECT CAST(1 AS DECIMAL(10, 2)) AS d, CAST(NULL AS VARCHAR(5)) AS v")
    assert cursor.description == [
        ("d", "DECIMAL(10, 2)", None, None, 10, 2, False),
        ("v", "VARCHAR(5)", None, 5, None, None, True),
    ]


def test_type_codes_are_equal_to_the_type_objects(connection: dbapi.Connection) -> None:
    cursor = connection.execute("SELECT 1, 'a', X'00', CURRENT_TIMESTAMP, TRUE")
    assert cursor.description is not None
    codes = [column[1] for column in cursor.description]
    objects = [dbapi.NUMBER, dbapi.STRING, dbapi.BINARY, dbapi.DATETIME]
    assert [[each == code for each in objects] for code in codes] == [
        [number == place for place in range(4)] for number in range(5)
    ]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("CAST(NULL AS INT)", None),
        ("TRUE", True),
        ("9223372036854775807", 9223372036854775807),
        ("CAST('12345678901234567890.123456789012345678' AS DECIMAL(38, 18))",
         Decimal("12345678901234567890.123456789012345678")),
        ("CAST(1.1 AS FLOAT)", 1.1),
        ("1e300", 1e300),
        ("CAST('-Infinity' AS DOUBLE)", float("-inf")),
        ("'é'", "é"),
        ("X'00ff'", b"\x00\xff"),
        ("DATE '2020-02-29'", datetime.date(2020, 2, 29)),
        ("TIME '23:59:59'", datetime.time(23, 59, 59)),
        ("TIMESTAMP '2020-01-01 01:02:03.123456'", datetime.datetime(2020, 1, 1, 1, 2, 3, 123456)),
        ("TO_TIMESTAMP_LTZ(1500, 3)", datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, datetime.UTC)),
        ("INTERVAL '1 02:03:04' DAY TO SECOND", datetime.timedelta(days=1, hours=2, minutes=3, seconds=4)),
        ("INTERVAL '2' YEAR", 24),
        ("ARRAY[1.5, 2]", [Decimal("1.5"), Decimal("2.0")]),
        ("MAP[DATE '2020-01-01', 1]", {datetime.date(2020, 1, 1): 1}),
        ("CAST(ROW(1, 'a') AS ROW<n INT, s STRING>)", {"n": 1, "s": "a"}),
    ],
)  # fmt: skip
def test_values_are_plain_ones_of_python(connection: dbapi.Connection, expression: str, value: Any) -> None:
    [(found,)] = rows_of(connection, f"SELECT {expression}")
    assert (found, type(found)) == (value, type(value))


def test_a_value_that_python_has_not_is_named(connection: dbapi.Connection) -> None:
    with pytest.raises(dbapi.DataError, match=r"column 'far' has a DATE.*select CAST\(far AS STRING\)"):
        rows_of(connection, "SELECT DATE '9999-12-31' + INTERVAL '1' DAY AS far")


def test_other_statements_yield_rows_too(connection: dbapi.Connection) -> None:
    assert rows_of(connection, "SHOW CURRENT DATABASE") == [("default_database",)]


def test_a_statement_without_rows_has_no_description(connection: dbapi.Connection, tmp_path: Path) -> None:
    files(connection, tmp_path)
    cursor = connection.execute("INSERT INTO t VALUES (1, 'a')")
    assert cursor.description is None
    assert cursor.job_id
    with pytest.raises(dbapi.ProgrammingError, match="no rows: execute a query first"):
        cursor.fetchone()


def test_what_was_inserted_is_there_when_execute_returns(connection: dbapi.Connection, tmp_path: Path) -> None:
    files(connection, tmp_path)
    connection.execute("INSERT INTO t VALUES (?, ?)", (1, "it's"))
    assert rows_of(connection, "SELECT * FROM t") == [(1, "it's")]


def test_executemany_inserts_many_rows_in_a_job(
    connection: dbapi.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scurry.dbapi.binding.ROWS_PER_INSERT", 20)
    files(connection, tmp_path)
    connection.cursor().executemany("INSERT INTO t (n, s) VALUES (?, ?)", [(n, str(n)) for n in range(30)])
    assert rows_of(connection, "SELECT COUNT(*), MAX(n) FROM t") == [(30, 29)]


def test_executemany_refuses_queries(connection: dbapi.Connection) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="call execute for a query"):
        connection.cursor().executemany("SELECT ?", [(1,), (2,)])


def test_a_later_statement_replaces_the_rows(connection: dbapi.Connection) -> None:
    cursor = connection.execute(VALUES)
    assert cursor.execute("SELECT 7").fetchall() == [(7,)]


def test_a_none_that_needs_a_type_is_explained(connection: dbapi.Connection, tmp_path: Path) -> None:
    files(connection, tmp_path)
    with pytest.raises(dbapi.ProgrammingError, match="Illegal use of 'NULL'") as raised:
        connection.execute("INSERT INTO t VALUES (?, ?)", (1, None))
    assert raised.value.__notes__ == ["  hint: a parameter that is None needs a type here, such as CAST(? AS STRING)"]


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("statement", "kind", "place"),
    [
        ("SELEC", dbapi.ProgrammingError, (1, 1)),
        ("SELECT\n  nope FROM (VALUES 1) AS t(x)", dbapi.ProgrammingError, (2, 3)),
        ("SELECT * FROM nope", dbapi.ProgrammingError, (1, 15)),
        ("SELECT 1 / 0", dbapi.DataError, (None, None)),
        ("SELECT 1; SELECT 2", dbapi.OperationalError, (None, None)),
    ],
)
def test_errors_are_those_of_the_standard_with_line_and_column(
    connection: dbapi.Connection, statement: str, kind: type[dbapi.Error], place: tuple[int | None, int | None]
) -> None:
    with pytest.raises(dbapi.Error) as raised:
        rows_of(connection, statement)
    assert (type(raised.value), (raised.value.line, raised.value.column)) == (kind, place)


def test_the_text_of_an_error_underlines_what_is_wrong(connection: dbapi.Connection) -> None:
    with pytest.raises(dbapi.ProgrammingError) as raised:
        connection.execute("SELECT nope FROM (VALUES 1) AS t(x)")
    assert str(raised.value).endswith("   1 | SELECT nope FROM (VALUES 1) AS t(x)\n              ^^^^")


def test_what_a_connector_cannot_do_is_not_supported(connection: dbapi.Connection, tmp_path: Path) -> None:
    files(connection, tmp_path)
    with pytest.raises(dbapi.NotSupportedError, match="cannot delete rows"):
        connection.execute("DELETE FROM t WHERE n = 1")


def test_a_closed_cursor_is_refused(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    cursor.close()
    with pytest.raises(dbapi.InterfaceError, match="the cursor is closed"):
        cursor.execute("SELECT 1")


def test_procedures_are_called_by_statements(connection: dbapi.Connection) -> None:
    with pytest.raises(dbapi.NotSupportedError, match=r"execute CALL p\(...\) instead"):
        connection.cursor().callproc("p")


# ---------------------------------------------------------------------- streams


def test_rows_of_an_unbounded_query_come_as_they_are_made(connect: Any) -> None:
    connection = connect(runtime_mode="streaming")
    connection.execute(ENDLESS)
    cursor = connection.execute("SELECT 1 FROM g")
    assert [cursor.fetchone() for _ in range(2)] == [(1,), (1,)]


def test_a_fetch_whose_time_is_over_fails_and_the_next_one_continues(connect: Any) -> None:
    connection = connect(runtime_mode="streaming")
    connection.execute(ENDLESS.replace("'10'", "'3'"))
    cursor = connection.execute("SELECT 1 FROM g")
    cursor.fetchone()
    cursor.timeout = 0.05
    with pytest.raises(dbapi.WaitTimeoutError, match=r"no row has come within 0.05 s; fetch again, or close"):
        cursor.fetchone()
    cursor.timeout = 120
    assert cursor.fetchone() == (1,)


def test_fetchmany_returns_the_rows_that_have_come_in_time(connect: Any) -> None:
    connection = connect(runtime_mode="streaming")
    connection.execute(ENDLESS)
    cursor = connection.execute("SELECT 1 FROM g")
    cursor.fetchone()
    cursor.timeout = 0.4
    assert 1 <= len(cursor.fetchmany(1000)) < 20


def test_fetchall_whose_time_is_over_loses_no_row(connect: Any) -> None:
    connection = connect(runtime_mode="streaming")
    connection.execute(
        "CREATE TEMPORARY TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5',"
        " 'number-of-rows' = '5', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '5')"
    )
    cursor = connection.execute("SELECT n FROM g")
    cursor.timeout = 0.3
    with pytest.raises(dbapi.WaitTimeoutError, match=r"the query has not ended within 0.3 s"):
        cursor.fetchall()
    cursor.timeout = 120
    assert cursor.fetchall() == [(n,) for n in range(1, 6)]


def test_a_statement_that_writes_for_too_long_is_cancelled(connect: Any) -> None:
    connection = connect(runtime_mode="streaming", settings={"table.dml-sync": "true"}, timeout=0.3)
    connection.execute(ENDLESS)
    connection.execute("CREATE TABLE hole (n BIGINT) WITH ('connector' = 'blackhole')")
    with pytest.raises(dbapi.WaitTimeoutError, match="has not been executed within 0.3 s: cancelled"):
        connection.execute("INSERT INTO hole SELECT n FROM g")
    assert ended(connection, connection.execute("SHOW JOBS").fetchall()[0][0])


def test_closing_a_cursor_cancels_the_job_of_its_query(connect: Any) -> None:
    connection = connect(runtime_mode="streaming")
    connection.execute(ENDLESS)
    cursor = connection.execute("SELECT n FROM g")
    cursor.fetchone()
    job = cursor.job_id
    cursor.close()
    assert ended(connection, job)


def ended(connection: dbapi.Connection, job: str | None) -> bool:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if {row[0]: row[2] for row in rows_of(connection, "SHOW JOBS")}[job] == "CANCELED":
            return True
        time.sleep(0.02)
    return False


COUNTS = "SELECT s, COUNT(*) AS c FROM (VALUES ('a'), ('a')) AS t(s) GROUP BY s"


def test_a_query_that_changes_its_rows_is_refused_in_streaming(connect: Any) -> None:
    cursor = connect(runtime_mode="streaming").execute(COUNTS)
    with pytest.raises(dbapi.NotSupportedError, match=r"a -U has come.*changelog=True.*runtime_mode='batch'"):
        cursor.fetchall()


def test_a_changelog_has_the_kind_of_each_row(connect: Any) -> None:
    cursor = connect(runtime_mode="streaming", changelog=True).execute(COUNTS)
    assert [column[0] for column in cursor.description] == ["op", "s", "c"]
    assert cursor.fetchall() == [("+I", "a", 1), ("-U", "a", 1), ("+U", "a", 2)]


def test_batch_has_the_final_rows(connection: dbapi.Connection) -> None:
    assert rows_of(connection, COUNTS) == [("a", 2)]
