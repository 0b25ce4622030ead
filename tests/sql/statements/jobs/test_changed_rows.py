"""DELETE, UPDATE and TRUNCATE change rows of databases and Delta tables, all of a statement or none."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import JobError, ScurryError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.cases import cases

COLUMNS = "id INT, k STRING, v INT"


@pytest.fixture
def env() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    return env


def in_database(env: TableEnvironment, directory: Path) -> None:
    with sqlite3.connect(directory / "db") as database:
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, v INTEGER)")
    env.execute_sql(
        f"CREATE TABLE t ({COLUMNS}, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'url' = 'jdbc:sqlite:{directory / 'db'}', 'table-name' = 't')"
    )


def in_delta(env: TableEnvironment, directory: Path) -> None:
    pytest.importorskip("deltalake")
    env.execute_sql(f"CREATE TABLE t ({COLUMNS}) WITH ('connector' = 'delta', 'table-path' = '{directory / 'd'}')")


def in_partitions(env: TableEnvironment, directory: Path) -> None:
    pytest.importorskip("deltalake")
    env.execute_sql(
        f"CREATE TABLE t ({COLUMNS}) PARTITIONED BY (k) WITH ('connector' = 'delta', "
        f"'table-path' = '{directory / 'd'}')"
    )


def in_iceberg(env: TableEnvironment, directory: Path) -> None:
    pytest.importorskip("pyiceberg")
    env.execute_sql(
        f"CREATE TABLE t ({COLUMNS}) WITH ('connector' = 'iceberg', 'catalog-name' = 'c', 'catalog-type' = 'sql', "
        f"'uri' = 'sqlite:///{directory / 'catalog.db'}', 'warehouse' = 'file://{directory / 'lake'}', "
        "'catalog-database' = 'db')"
    )


Rows = list[tuple[int, str | None, int | None]]
TABLES = [in_database, in_delta, in_partitions, in_iceberg]


def filled(env: TableEnvironment, rows: Rows) -> None:
    texts = [", ".join("CAST(NULL AS INT)" if each is None else repr(each) for each in row) for row in rows]
    env.execute_sql(f"INSERT INTO t VALUES {', '.join(f'({row})' for row in texts)}").wait()


def rows_of(env: TableEnvironment) -> list[Any]:
    with env.execute_sql("SELECT * FROM t").collect() as rows:
        return sorted((tuple(row) for row in rows), key=repr)


ROWS: Rows = [(1, "a", 10), (2, "b", 20), (3, "a", None), (4, "c", 40)]


@pytest.fixture(params=TABLES, ids=lambda make: make.__name__)
def table(request: Any, env: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    make: Callable[[TableEnvironment, Path], None] = request.param
    make(env, tmp_path)
    filled(env, ROWS)
    return env


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("DELETE FROM t WHERE id = 1", [(2, "b", 20), (3, "a", None), (4, "c", 40)]),
        ("DELETE FROM t WHERE v > 15", [(1, "a", 10), (3, "a", None)]),
        ("DELETE FROM t AS x WHERE x.k = 'a' AND x.v IS NULL", [(1, "a", 10), (2, "b", 20), (4, "c", 40)]),
        ("DELETE FROM t", []),
        ("DELETE FROM t WHERE v > 100", ROWS),
        ("DELETE FROM t WHERE v > (SELECT AVG(v) FROM t)", [(1, "a", 10), (2, "b", 20), (3, "a", None)]),
        ("DELETE FROM t WHERE id IN (SELECT id FROM t WHERE v = 40)", ROWS[:3]),
        ("UPDATE t SET v = 5 WHERE id IN (SELECT id FROM t WHERE v = 40)", [*ROWS[:3], (4, "c", 5)]),
        ("UPDATE t SET v = NULL", [(1, "a", None), (2, "b", None), (3, "a", None), (4, "c", None)]),
        ("UPDATE t SET v = 0", [(1, "a", 0), (2, "b", 0), (3, "a", 0), (4, "c", 0)]),
        ("UPDATE t SET v = v + id WHERE v > 15", [(1, "a", 10), (2, "b", 22), (3, "a", None), (4, "c", 44)]),
        ("UPDATE t x SET v = NULL, k = x.k || 'x' WHERE x.id < 3", [(1, "ax", None), (2, "bx", None), *ROWS[2:]]),
        ("UPDATE t SET k = CAST(v AS STRING), v = 7 WHERE id = 1", [(1, "10", 7), *ROWS[1:]]),
        ("UPDATE t SET v = 1 WHERE v > 100", ROWS),
    ],
)
def test_a_statement_changes_the_rows_it_says(table: TableEnvironment, statement: str, left: Rows) -> None:
    result = table.execute_sql(statement)
    result.wait()
    assert str(result.get_resolved_schema()).split() == "( `default_catalog.default_database.t` BIGINT )".split()
    assert rows_of(table) == sorted(left, key=repr)


def test_truncate_removes_all_rows_and_the_table_stays(table: TableEnvironment) -> None:
    table.execute_sql("TRUNCATE TABLE t")
    assert rows_of(table) == []
    filled(table, ROWS[:1])
    assert rows_of(table) == ROWS[:1]


@pytest.mark.parametrize("statement", [
    "UPDATE t SET v = 1 / (id - 4)", "DELETE FROM t WHERE 1 / (id - 4) = 1",
])  # fmt: skip
def test_a_statement_that_fails_changes_nothing(table: TableEnvironment, statement: str) -> None:
    with pytest.raises(ScurryError):
        table.execute_sql(statement).wait()
    assert rows_of(table) == ROWS


@pytest.mark.parametrize("seed", range(cases(6)))
def test_random_statements_leave_the_rows_of_a_model(table: TableEnvironment, seed: int) -> None:
    chosen, model = random.Random(seed), {row[0]: row for row in ROWS}
    for _ in range(4):
        bound, added = chosen.randint(0, 60), chosen.randint(-9, 9)
        if chosen.random() < 0.4:
            table.execute_sql(f"DELETE FROM t WHERE v < {bound} AND MOD(id, 2) = {bound % 2}").wait()
            model = {
                key: row for key, row in model.items() if row[2] is None or row[2] >= bound or key % 2 != bound % 2
            }
        else:
            table.execute_sql(f"UPDATE t SET v = v + {added} WHERE v >= {bound}").wait()
            model = {
                key: row if row[2] is None or row[2] < bound else (*row[:2], row[2] + added)
                for key, row in model.items()
            }
    assert rows_of(table) == sorted(model.values(), key=repr)


def test_a_delta_table_that_changes_meanwhile_is_left_as_it_is(env: TableEnvironment, tmp_path: Path) -> None:
    in_delta(env, tmp_path)
    filled(env, ROWS)
    from scurry.connectors.lakes.delta_table import open_table

    tries: list[str] = []

    def changed(path: str, version: int | None = None) -> Any:
        if not tries:
            tries.append(path)
            open_table(path).delete("id = 4")
        return open_table(path, version)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scurry.connectors.lakes.delta_sink.open_table", changed)
        with pytest.raises(JobError, match="has changed while its rows were read"):
            env.execute_sql("DELETE FROM t WHERE id = 1").wait()
    assert rows_of(env) == ROWS[:3]


def test_an_iceberg_table_that_changes_meanwhile_is_left_as_it_is(env: TableEnvironment, tmp_path: Path) -> None:
    in_iceberg(env, tmp_path)
    filled(env, ROWS)
    from scurry.connectors.lakes import iceberg_sink

    committer: Any = iceberg_sink._IcebergCommitter
    commit = committer.commit

    def changed(self: Any, batch_id: int, committables: Any) -> None:
        self._sink.table.load().delete("id = 4")
        commit(self, batch_id, committables)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(committer, "commit", changed)
        with pytest.raises(JobError, match="has changed while its rows were read"):
            env.execute_sql("DELETE FROM t WHERE id = 1").wait()
    assert rows_of(env) == ROWS[:3]


def test_rows_of_a_database_need_a_key_that_stays(env: TableEnvironment, tmp_path: Path) -> None:
    in_database(env, tmp_path)
    env.execute_sql(
        f"CREATE TABLE u ({COLUMNS}) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{tmp_path / 'db'}', "
        "'table-name' = 't')"
    )
    with pytest.raises(ValidationError, match="it declares none"):
        env.execute_sql("DELETE FROM u")
    with pytest.raises(ValidationError, match="it belongs to the primary key"):
        env.execute_sql("UPDATE t SET id = 5")


def test_streaming_refuses_and_says_where_it_runs(tmp_path: Path) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    in_database(env, tmp_path)
    for statement in ("DELETE FROM t", "UPDATE t SET v = 1", "TRUNCATE TABLE t"):
        with pytest.raises(UnsupportedError, match="streaming mode") as raised:
            env.execute_sql(statement)
        assert "in_batch_mode" in str(raised.value.__notes__ if hasattr(raised.value, "__notes__") else raised.value)


#: A process that is killed where the rows are committed: `before` or behind it.
KILLED = """
import os, sys
from scurry.connectors.jdbc.sqlite import Sqlite
from scurry.connectors.lakes.delta_table import deltalake
from scurry.table import EnvironmentSettings, TableEnvironment

definition, statement, place = sys.argv[1:]

def killed(function):
    def wrapped(*arguments, **options):
        if place == "before":
            os._exit(9)
        function(*arguments, **options)
        os._exit(9)
    return wrapped

class Connection:
    def __init__(self, connection):
        self._connection = connection
        self.changed = False
    def __getattr__(self, name):
        return getattr(self._connection, name)
    def cursor(self):
        self.changed = True
        return self._connection.cursor()
    def commit(self):
        (killed(self._connection.commit) if self.changed else self._connection.commit)()

opened = Sqlite.open
Sqlite.open = lambda self, *rest: Connection(opened(self, *rest))
deltalake().DeltaTable.create_write_transaction = killed(deltalake().DeltaTable.create_write_transaction)
env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
env.get_config().set("scurry.runner", "local")
env.execute_sql(definition)
env.execute_sql(statement).wait()
"""


@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize("make", [in_database, in_delta])
def test_a_process_that_is_killed_has_changed_all_rows_or_none(
    env: TableEnvironment, tmp_path: Path, make: Callable[[TableEnvironment, Path], None], place: str
) -> None:
    make(env, tmp_path)
    filled(env, ROWS)
    with env.execute_sql("SHOW CREATE TABLE t").collect() as shown:
        definition = next(iter(shown))[0]
    statement = "UPDATE t SET v = 1 WHERE id > 1"
    command = [sys.executable, "-c", KILLED, definition, statement, place]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 9
    found = rows_of(env)
    assert found == (ROWS if place == "before" else [ROWS[0], *((*row[:2], 1) for row in ROWS[1:])])
    env.execute_sql(statement).wait()
    assert rows_of(env) == [ROWS[0], *((*row[:2], 1) for row in ROWS[1:])]
