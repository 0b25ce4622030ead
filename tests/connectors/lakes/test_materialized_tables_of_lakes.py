"""Materialized tables of catalogs of lakes: definitions outlive a session, and rows are replaced at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError, ValidationError
from scurry.sql.catalog.materialized import RefreshMode
from scurry.sql.statements.materialized.refresher import state_directory
from scurry.table import EnvironmentSettings, TableEnvironment
from support.statements.tables import rows, until

CATALOGS: dict[str, Callable[[Path], str]] = {
    "delta": lambda directory: f"'type' = 'delta', 'warehouse' = '{directory}/lake'",
    "iceberg": lambda directory: (
        f"'type' = 'iceberg', 'catalog-type' = 'sql', 'uri' = 'sqlite:///{directory}/catalog.db', "
        f"'warehouse' = 'file://{directory}/lake'"
    ),
}


class Lake:
    """Sessions on one catalog of a lake, and a table of files `src`."""

    def __init__(self, directory: Path, kind: str) -> None:
        self.directory, self.kind = directory, kind
        (directory / "src").mkdir()
        (directory / "lake").mkdir()
        self.env = self.session()
        self.env.execute_sql("CREATE DATABASE IF NOT EXISTS lake.shop")

    def session(self, streaming: bool = True) -> TableEnvironment:
        mode = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
        env = TableEnvironment.create(mode)
        for key, value in {"scurry.runner": "local", "execution.checkpointing.interval": "50 ms"}.items():
            env.get_config().set(key, value)
        env.get_config().set("parallelism.default", "1")
        env.execute_sql(f"CREATE CATALOG lake WITH ({CATALOGS[self.kind](self.directory)})")
        files = f"'connector' = 'filesystem', 'path' = '{self.directory}/src', 'format' = 'csv'"
        env.execute_sql(f"CREATE TABLE src (k STRING, v INT) WITH ({files}, 'source.monitor-interval' = '50 ms')")
        env.execute_sql(f"CREATE TABLE bounded (k STRING, v INT) WITH ({files})")
        return env

    def add(self, name: str, *lines: str) -> None:
        part = self.directory / f".{name}"
        part.write_text("".join(f"{line}\n" for line in lines))
        part.rename(self.directory / "src" / name)

    def rows(self) -> list[tuple[Any, ...]]:
        return rows(self.session(streaming=False), "SELECT * FROM lake.shop.mt")


@pytest.fixture(params=list(CATALOGS))
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Lake(tmp_path, request.param)
    yield made
    made.env.execute_sql("DROP MATERIALIZED TABLE IF EXISTS lake.shop.mt")


CONTINUOUS = "CREATE MATERIALIZED TABLE lake.shop.mt FRESHNESS = INTERVAL '1' SECOND AS SELECT k, v FROM src"
FULL = (
    "CREATE MATERIALIZED TABLE lake.shop.mt PARTITIONED BY (k) FRESHNESS = INTERVAL '1' DAY AS SELECT v, k FROM bounded"
)


def test_another_session_sees_and_suspends_it(lake: Lake) -> None:
    lake.add("a.csv", "x,1")
    lake.env.execute_sql(CONTINUOUS)
    until(lambda: lake.rows() == [("x", 1)])
    other = lake.session()
    assert rows(other, "SHOW MATERIALIZED TABLES IN lake.shop") == [("mt",)]
    (text,) = rows(other, "SHOW CREATE MATERIALIZED TABLE lake.shop.mt")[0]
    assert "FRESHNESS = INTERVAL '1' SECOND\nREFRESH_MODE = CONTINUOUS\nAS SELECT `src`.`k`, `src`.`v`" in text
    other.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt SUSPEND")
    lake.add("b.csv", "y,2")
    lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt RESUME")
    until(lambda: lake.rows() == [("x", 1), ("y", 2)])


def test_full_mode_replaces_all_rows_in_one_version(lake: Lake) -> None:
    lake.add("a.csv", "x,1", "y,2")
    lake.env.execute_sql(FULL)
    lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt REFRESH")
    until(lambda: lake.rows() == [(1, "x"), (2, "y")])
    lake.add("a.csv", "x,3")
    lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt REFRESH")
    until(lambda: lake.rows() == [(3, "x")])


def test_a_partition_is_replaced_alone(lake: Lake) -> None:
    lake.add("a.csv", "x,1", "y,2")
    lake.env.execute_sql(FULL)
    lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt REFRESH")
    until(lambda: lake.rows() == [(1, "x"), (2, "y")])
    lake.add("a.csv", "x,10", "y,20", ",5")
    lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt REFRESH PARTITION (k = 'y')")
    until(lambda: lake.rows() == [(1, "x"), (20, "y")])


def test_another_query_adds_a_column_to_the_lake(lake: Lake) -> None:
    lake.add("a.csv", "x,1")
    lake.env.execute_sql(CONTINUOUS)
    until(lambda: lake.rows() == [("x", 1)])
    lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt AS SELECT k, v + 1 AS v, UPPER(k) AS u FROM src")
    until(lambda: lake.rows() == [("x", 1, None), ("x", 2, "X")])


def test_a_dropped_table_leaves_nothing(lake: Lake) -> None:
    lake.add("a.csv", "x,1")
    lake.env.execute_sql(CONTINUOUS)
    until(lambda: lake.rows() == [("x", 1)])
    assert list(state_directory().iterdir())
    lake.env.execute_sql("DROP MATERIALIZED TABLE lake.shop.mt")
    assert not list(state_directory().iterdir())
    assert lake.env.get_catalog("lake").list_tables("shop") == []  # type: ignore[union-attr]


def test_changes_that_a_lake_does_not_take_are_refused_as_a_whole(lake: Lake) -> None:
    with pytest.raises(ScurryError, match="doesn't support consuming update changes"):
        lake.env.execute_sql("CREATE MATERIALIZED TABLE lake.shop.mt AS SELECT k, SUM(v) AS s FROM src GROUP BY k")
    assert lake.env.get_catalog("lake").list_tables("shop") == []  # type: ignore[union-attr]


def test_temporary_tables_are_refused(lake: Lake) -> None:
    lake.env.execute_sql("CREATE TEMPORARY VIEW passing AS SELECT k, v FROM src")
    with pytest.raises(ValidationError, match="reads the temporary table default_catalog.default_database.passing"):
        lake.env.execute_sql("CREATE MATERIALIZED TABLE lake.shop.mt AS SELECT * FROM passing")


def test_the_mode_is_read_back(lake: Lake) -> None:
    lake.env.execute_sql(FULL)
    catalogs = lake.session()._session.catalogs
    found = catalogs.find_table(catalogs.qualify(("lake", "shop", "mt")))
    assert found is not None
    assert getattr(found.table, "refresh_mode", None) is RefreshMode.FULL
