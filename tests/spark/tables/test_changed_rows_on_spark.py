"""DELETE and UPDATE on Spark: tasks find the rows, and the driver changes them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

pytestmark = pytest.mark.spark


def rows_of(env: TableEnvironment, table: str) -> list[Any]:
    with env.execute_sql(f"SELECT * FROM {table}").collect() as rows:
        return sorted(tuple(row) for row in rows)


def test_rows_of_databases_and_delta_tables_change(tmp_path: Path) -> None:
    pytest.importorskip("deltalake")
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("parallelism.default", "2")
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)")
    env.execute_sql(
        "CREATE TABLE d (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'url' = 'jdbc:sqlite:{tmp_path / 'db'}', 'table-name' = 't')"
    )
    env.execute_sql(
        f"CREATE TABLE l (id INT, v INT) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 'lake'}')"
    )
    for table in ("d", "l"):
        env.execute_sql(f"INSERT INTO {table} VALUES (1, 10), (2, 20), (3, 30)").wait()
        env.execute_sql(f"UPDATE {table} SET v = v + (SELECT MAX(id) FROM {table}) WHERE v < 30").wait()
        env.execute_sql(f"DELETE FROM {table} WHERE id = 2").wait()
        assert rows_of(env, table) == [(1, 13), (3, 30)]
