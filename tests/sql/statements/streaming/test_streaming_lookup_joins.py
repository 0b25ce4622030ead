"""Lookup joins: rows with what a table of a database has for their keys."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest

from scurry.errors import UnsupportedError, ValidationError
from scurry.table import TableEnvironment
from support.statements.tables import environment, files, rows, write

ORDERS = "id INT, k INT, v INT, p AS PROCTIME()"


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute("create table people (k integer, name text, age integer)")
        database.executemany("insert into people values (?, ?, ?)", [(1, "ann", 5), (1, "al", 9), (2, "bob", 20)])
    write(tmp_path / "orders", "f", *({"id": id, "k": k, "v": 7} for id, k in enumerate([1, 2, None, 3, 1])))
    found = environment()
    files(found, "orders", ORDERS, tmp_path / "orders")
    found.execute_sql(
        "CREATE TABLE people (k INT, name STRING, age INT, next_age AS age + 1) "
        f"WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{tmp_path}/db', 'table-name' = 'people')"
    )
    return found


QUERY = "SELECT o.id, c.name, c.next_age FROM orders AS o {} people FOR SYSTEM_TIME AS OF o.p AS c ON o.k = c.k"


def test_each_row_is_joined_with_the_rows_of_its_key(env: TableEnvironment) -> None:
    assert rows(env, QUERY.format("JOIN")) == [
        (0, "al", 10),
        (0, "ann", 6),
        (1, "bob", 21),
        (4, "al", 10),
        (4, "ann", 6),
    ]


def test_a_row_without_a_match_is_kept_by_a_left_join(env: TableEnvironment) -> None:
    found = rows(env, QUERY.format("LEFT JOIN") + " AND c.age > o.v")
    assert found == [(0, "al", 10), (1, "bob", 21), (2, None, None), (3, None, None), (4, "al", 10)]


def test_explain_shows_what_is_looked_up(env: TableEnvironment) -> None:
    shown = env.explain_sql(QUERY.format("JOIN"))
    assert "LookupJoin(table=[default_catalog.default_database.people], joinType=[InnerJoin], lookup=[k=k]" in shown


def test_a_table_without_lookups_is_refused(env: TableEnvironment, tmp_path: Path) -> None:
    files(env, "plain", "k INT, name STRING", tmp_path / "plain")
    files(env, "keyed", "k INT, name STRING, PRIMARY KEY (k) NOT ENFORCED", tmp_path / "plain")
    query = "SELECT * FROM orders AS o JOIN {} FOR SYSTEM_TIME AS OF o.p AS c ON o.k = c.k"
    with pytest.raises(ValidationError, match="requires primary key in versioned table"):
        env.explain_sql(query.format("plain"))
    with pytest.raises(UnsupportedError, match="Processing-time temporal join is not supported yet"):
        env.explain_sql(query.format("keyed"))


RETRIED = (
    "SELECT /*+ LOOKUP('table' = 'c', 'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', "
    "'fixed-delay' = '20 ms', 'max-attempts' = '{}') */"
)


def test_a_key_without_rows_is_asked_again_as_the_hint_says(env: TableEnvironment, tmp_path: Path) -> None:
    def later() -> None:
        time.sleep(0.3)
        with sqlite3.connect(tmp_path / "db") as database:
            database.execute("insert into people values (3, 'cleo', 30)")

    thread = threading.Thread(target=later)
    thread.start()
    query = QUERY.format("LEFT JOIN").replace("SELECT", RETRIED.format(100)) + " WHERE o.k IS NOT NULL"
    found = rows(env, query)
    thread.join()
    assert found == [(0, "al", 10), (0, "ann", 6), (1, "bob", 21), (3, "cleo", 31), (4, "al", 10), (4, "ann", 6)]


def test_a_key_that_stays_without_rows_is_given_up_after_so_many_attempts(env: TableEnvironment) -> None:
    assert rows(env, QUERY.format("JOIN").replace("SELECT", RETRIED.format(2))) == rows(env, QUERY.format("JOIN"))


def test_an_update_without_a_match_takes_the_row_before_it_from_a_sink_with_its_key(
    env: TableEnvironment, tmp_path: Path
) -> None:
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute("create table found (id integer primary key, name text)")
        database.execute("create table names (k integer primary key, name text)")
        database.execute("insert into names values (1, 'ann')")
    joined = {"id": 1, "k": 1}
    moved = {"id": 1, "k": 3}
    write(
        tmp_path / "changes",
        "f",
        {"before": None, "after": joined, "op": "c"},
        {"before": joined, "after": moved, "op": "u"},
    )
    files(
        env,
        "changes",
        "id INT PRIMARY KEY NOT ENFORCED, k INT, p AS PROCTIME()",
        tmp_path / "changes",
        format="debezium-json",
    )
    options = f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{tmp_path}/db'"
    env.execute_sql(
        f"CREATE TABLE names (k INT PRIMARY KEY NOT ENFORCED, name STRING) WITH ({options}, 'table-name' = 'names')"
    )
    env.execute_sql(
        f"CREATE TABLE found (id INT PRIMARY KEY NOT ENFORCED, name STRING) WITH ({options}, 'table-name' = 'found')"
    )
    env.execute_sql(
        "INSERT INTO found SELECT c.id, n.name FROM changes AS c JOIN names FOR SYSTEM_TIME AS OF c.p AS n ON c.k = n.k"
    ).wait()
    with sqlite3.connect(tmp_path / "db") as database:
        assert database.execute("select * from found").fetchall() == []
