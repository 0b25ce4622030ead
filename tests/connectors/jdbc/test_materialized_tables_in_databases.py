"""Materialized tables of a database: the streaming job of CONTINUOUS mode updates their rows by key."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError, ValidationError
from support.statements.tables import environment, files, until, write


class Database:
    """A materialized table `sums` of files in a SQLite database, in a catalog of files."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "tables").mkdir()
        with sqlite3.connect(home / "shop.db") as connection:
            connection.execute("CREATE TABLE sums (k TEXT PRIMARY KEY, n INTEGER, s INTEGER)")
        self.env = environment(True, **{"parallelism.default": "1"})
        self.env.get_config().set("execution.checkpointing.interval", "50 ms")
        self.env.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{home}/tables')")
        self.env.execute_sql("USE CATALOG kept")
        files(self.env, "src", "k STRING, v INT", home / "src", **{"source.monitor-interval": "50 ms"})

    def create(self, more: str = "(PRIMARY KEY (k) NOT ENFORCED)", mode: str = "CONTINUOUS") -> None:
        self.env.execute_sql(
            f"CREATE MATERIALIZED TABLE sums {more} WITH ('connector' = 'jdbc', 'table-name' = 'sums', 'url' = "
            f"'jdbc:sqlite:{self.home}/shop.db') FRESHNESS = INTERVAL '1' SECOND REFRESH_MODE = {mode} "
            "AS SELECT COALESCE(k, '') AS k, COUNT(*) AS n, SUM(v) AS s FROM src GROUP BY COALESCE(k, '')"
        )

    def rows(self) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.home / "shop.db") as connection:
            return sorted(connection.execute("SELECT k, n, s FROM sums").fetchall())


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Database(tmp_path)
    yield made
    made.env.execute_sql("DROP MATERIALIZED TABLE IF EXISTS sums")


def test_rows_are_updated_by_key_through_suspending_and_another_query(database: Database) -> None:
    write(database.home / "src", "a", {"k": "x", "v": 1}, {"k": "y", "v": 2})
    database.create()
    until(lambda: database.rows() == [("x", 1, 1), ("y", 1, 2)])
    write(database.home / "src", "b", {"k": "x", "v": 10})
    until(lambda: database.rows() == [("x", 2, 11), ("y", 1, 2)])
    database.env.execute_sql("ALTER MATERIALIZED TABLE sums SUSPEND")
    write(database.home / "src", "c", {"k": "y", "v": 20}, {"k": "z", "v": 5})
    database.env.execute_sql("ALTER MATERIALIZED TABLE sums RESUME")
    until(lambda: database.rows() == [("x", 2, 11), ("y", 2, 22), ("z", 1, 5)])
    database.env.execute_sql(
        "ALTER MATERIALIZED TABLE sums AS SELECT COALESCE(k, '') AS k, COUNT(*) AS n, MAX(v) AS s FROM src "
        "GROUP BY COALESCE(k, '')"
    )
    until(lambda: database.rows() == [("x", 2, 10), ("y", 2, 20), ("z", 1, 5)])


def test_without_a_key_updates_are_refused_and_nothing_is_left(database: Database) -> None:
    with pytest.raises(ScurryError, match="primary key"):
        database.create(more="")
    assert [row[0] for row in database.env.execute_sql("SHOW MATERIALIZED TABLES").collect()] == []


def test_full_mode_is_refused(database: Database) -> None:
    with pytest.raises(ValidationError, match="cannot be refreshed in FULL mode") as failure:
        database.create(mode="FULL")
    assert "REFRESH_MODE = CONTINUOUS adds them" in failure.value.describe()
