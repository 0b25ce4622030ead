"""Materialized tables that jobs of a session refresh: they go on when the session or the process of a job is killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError, SessionError, ValidationError
from support.session.refreshed_tables import CONTINUOUS, FULL, SESSION, RefreshedTables
from support.session.shell import wait_for

#: 20 kills of each mode take two minutes.
KILLS = [3, pytest.param(int(os.environ.get("SCURRY_KILLS", "20")), marks=pytest.mark.nightly)]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RefreshedTables]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = RefreshedTables(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("kills", KILLS)
def test_kills_of_session_and_driver_lose_and_repeat_nothing_in_continuous_mode(
    tables: RefreshedTables, kills: int
) -> None:
    tables.env.execute_sql(CONTINUOUS)
    wait_for(lambda: tables.rows() == tables.copied())
    tables.kill_and_write(kills)
    wait_for(lambda: tables.rows() == tables.copied())
    tables.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt SUSPEND")
    tables.write(5)
    tables.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt RESUME")
    wait_for(lambda: tables.rows() == tables.copied())
    tables.env.execute_sql("DROP MATERIALIZED TABLE lake.shop.mt")
    wait_for(lambda: not tables.drivers())


@pytest.mark.parametrize("kills", KILLS)
def test_kills_of_session_and_driver_lose_no_refresh_in_full_mode(tables: RefreshedTables, kills: int) -> None:
    tables.env.execute_sql(FULL.format(seconds=5))
    wait_for(lambda: tables.rows() == tables.summed())
    tables.kill_and_write(kills)
    wait_for(lambda: tables.rows() == tables.summed())
    tables.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt SUSPEND")
    tables.write(5)
    tables.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt REFRESH")
    wait_for(lambda: tables.rows() == tables.summed())
    tables.env.execute_sql("DROP MATERIALIZED TABLE lake.shop.mt")


FILES: dict[str, tuple[str, Callable[[RefreshedTables], Any]]] = {
    "CONTINUOUS": ("SELECT k, v FROM src", lambda tables: tables.copied()),
    "FULL": ("SELECT k, COUNT(*) AS c, SUM(v) AS s FROM src /*+ OPTIONS('source.monitor-interval' = '0 s') */ "
             "GROUP BY k", lambda tables: tables.summed()),
}  # fmt: skip


@pytest.mark.parametrize("mode", [pytest.param("CONTINUOUS", marks=pytest.mark.nightly), "FULL"])
def test_tables_of_files_are_refreshed_and_another_program_goes_on_with_them(
    tables: RefreshedTables, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "files" / "shop").mkdir(parents=True)
    query, expected = FILES[mode]
    env = tables.env
    env.execute_sql(f"CREATE CATALOG files WITH ('type' = 'filesystem', 'path' = '{tmp_path}/files')")
    env.execute_sql(
        "CREATE TABLE files.shop.src (k STRING, v BIGINT) WITH ('format' = 'csv', 'source.monitor-interval' = '50 ms')"
    )
    tables.written = 0
    tables.write_file("src")
    env.use_catalog("files")
    env.use_database("shop")
    env.execute_sql(
        "CREATE MATERIALIZED TABLE mt WITH ('format' = 'json') FRESHNESS = INTERVAL '2' SECOND "
        f"REFRESH_MODE = {mode} AS {query}"
    )
    wait_for(lambda: tables.rows_of_files("mt") == expected(tables))
    tables.write_file("src")
    tables.kill_driver()
    wait_for(lambda: tables.rows_of_files("mt") == expected(tables))
    tables.kill_session()
    tables.write_file("src")
    wait_for(lambda: tables.rows_of_files("mt") == expected(tables))
    other = tables.environment()
    assert [tuple(row) for row in other.execute_sql("SHOW MATERIALIZED TABLES IN files.shop").collect()] == [("mt",)]
    other.execute_sql("ALTER MATERIALIZED TABLE files.shop.mt SUSPEND")
    tables.write_file("src")
    other.execute_sql("ALTER MATERIALIZED TABLE files.shop.mt RESUME")
    wait_for(lambda: tables.rows_of_files("mt") == expected(tables))
    other.execute_sql("DROP MATERIALIZED TABLE files.shop.mt")
    assert not (tmp_path / "files" / "shop" / "mt").exists()


def test_what_the_session_cannot_run_is_refused_as_a_whole(tables: RefreshedTables) -> None:
    with pytest.raises(ScurryError, match="doesn't support consuming update changes"):
        tables.env.execute_sql(CONTINUOUS.replace("SELECT k, v", "SELECT k, SUM(v) AS v") + " GROUP BY k")
    tables.env.execute_sql("CREATE TABLE inner_only (k STRING) WITH ('connector' = 'datagen')")
    with pytest.raises(ValidationError, match="catalog default_catalog of .*inner_only is not in the catalog store"):
        tables.env.execute_sql("CREATE MATERIALIZED TABLE lake.shop.mt AS SELECT k FROM inner_only")
    tables.env.get_config().set("scurry.materialized-table.session", "other")
    with pytest.raises(ScurryError, match="no session 'other' runs"):
        tables.env.execute_sql(CONTINUOUS)
    assert tables.env.get_catalog("lake").list_materialized_tables("shop") == []  # type: ignore[union-attr]


def test_a_table_stays_when_its_session_does_not_answer(tables: RefreshedTables) -> None:
    tables.env.execute_sql(CONTINUOUS)
    tables.session.kill()
    tables.session.wait()
    with pytest.raises(SessionError, match=f"no session '{SESSION}' runs"):
        tables.env.execute_sql("DROP MATERIALIZED TABLE lake.shop.mt")
    assert tables.env.get_catalog("lake").list_materialized_tables("shop") == ["mt"]  # type: ignore[union-attr]
