"""Materialized tables in this process: both modes, suspended and resumed, changed, dropped, and refused as a whole."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError, UnsupportedError, ValidationError
from scurry.sql.catalog.materialized import CatalogMaterializedTable, RefreshStatus
from scurry.table import EnvironmentSettings, TableEnvironment
from support.statements.tables import until


class Tables:
    """An environment with a growing table `src`, and the rows of files."""

    def __init__(self, directory: Path, **settings: str) -> None:
        self.directory = directory
        self.env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in {"scurry.runner": "local", "parallelism.default": "1", **settings}.items():
            self.env.get_config().set(key, value)
        (directory / "src").mkdir(exist_ok=True)
        files = f"'connector' = 'filesystem', 'path' = '{directory}/src', 'format' = 'csv'"
        self.env.execute_sql(f"CREATE TABLE src (k STRING, v INT) WITH ({files}, 'source.monitor-interval' = '50 ms')")
        self.env.execute_sql(f"CREATE TABLE bounded (k STRING, v INT) WITH ({files})")

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.env.execute_sql(text).collect()]

    def add(self, name: str, *rows: str) -> None:
        part = self.directory / f".{name}"
        part.write_text("".join(f"{row}\n" for row in rows))
        part.rename(self.directory / "src" / name)

    def files(self, name: str = "mt") -> str:
        return f"'connector' = 'filesystem', 'path' = '{self.directory}/{name}', 'format' = 'json'"

    def rows(self, name: str = "mt") -> list[tuple[Any, ...]]:
        found = []
        for file in (self.directory / name).rglob("*"):
            if file.is_file() and not any(part.startswith((".", "_")) for part in file.parts[-3:]):
                found += [tuple(json.loads(line).values()) for line in file.read_text().splitlines()]
        return sorted(found)

    def table(self, name: str = "mt") -> CatalogMaterializedTable:
        catalogs = self.env._session.catalogs
        found = catalogs.find_table(catalogs.qualify((name,)))
        assert found is not None and isinstance(found.table, CatalogMaterializedTable)
        return found.table

    def continuous(self, query: str = "SELECT k, v FROM src", more: str = "") -> None:
        self.sql(
            f"CREATE MATERIALIZED TABLE mt {more} WITH ({self.files()}) FRESHNESS = INTERVAL '1' SECOND AS {query}"
        )

    def full(
        self, query: str = "SELECT k, SUM(v) AS s FROM bounded GROUP BY k", more: str = "", **options: str
    ) -> None:
        given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
        self.sql(
            f"CREATE MATERIALIZED TABLE mt {more} WITH ({self.files()}{given}) FRESHNESS = INTERVAL '1' SECOND "
            f"REFRESH_MODE = FULL AS {query}"
        )


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    made = Tables(tmp_path, **{"execution.checkpointing.interval": "20 ms"})
    yield made
    for name in made.env.list_materialized_tables():
        made.sql(f"DROP MATERIALIZED TABLE `{name}`")


def test_continuous_mode_adds_what_the_query_adds(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.continuous()
    assert tables.table().refresh_status is RefreshStatus.ACTIVATED
    until(lambda: tables.rows() == [("x", 1)])
    tables.add("b.csv", "y,2")
    until(lambda: tables.rows() == [("x", 1), ("y", 2)])


def test_a_suspended_table_goes_on_where_it_was(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.continuous()
    until(lambda: tables.rows() == [("x", 1)])
    for number in range(3):
        tables.sql("ALTER MATERIALIZED TABLE mt SUSPEND")
        assert tables.table().refresh_status is RefreshStatus.SUSPENDED
        tables.add(f"b{number}.csv", f"y,{number}")
        tables.sql("ALTER MATERIALIZED TABLE mt RESUME")
        until(lambda number=number: len(tables.rows()) == number + 2)  # type: ignore[misc]
    assert tables.rows() == [("x", 1), ("y", 0), ("y", 1), ("y", 2)]


def test_suspending_and_resuming_twice_is_refused(tables: Tables) -> None:
    tables.continuous()
    with pytest.raises(ValidationError, match="continuous refresh job has been resumed, jobId is"):
        tables.sql("ALTER MATERIALIZED TABLE mt RESUME")
    tables.sql("ALTER MATERIALIZED TABLE mt SUSPEND")
    with pytest.raises(ValidationError, match="continuous refresh job has been suspended, jobId is"):
        tables.sql("ALTER MATERIALIZED TABLE mt SUSPEND")


def test_the_checkpoint_interval_is_the_freshness(tmp_path: Path) -> None:
    from scurry.sql.statements.materialized.refresher import checkpoint_settings

    made = Tables(tmp_path)
    made.continuous()
    assert checkpoint_settings(made.env._session, made.table()) == {"execution.checkpointing.interval": "1000 ms"}
    made.sql("DROP MATERIALIZED TABLE mt")


def test_a_table_whose_job_cannot_start_is_not_created(tables: Tables) -> None:
    with pytest.raises(ScurryError, match="doesn't support consuming update changes"):
        tables.continuous("SELECT k, SUM(v) AS s FROM src GROUP BY k")
    assert tables.env.list_materialized_tables() == []
    assert tables.env.list_tables() == ["bounded", "src"]


def test_a_connector_that_cannot_replace_rows_is_refused_in_full_mode(tables: Tables) -> None:
    with pytest.raises(ValidationError, match=r"cannot be refreshed in FULL mode(.|\n)*cannot"):
        tables.sql("CREATE MATERIALIZED TABLE mt WITH ('connector' = 'blackhole') REFRESH_MODE = FULL AS SELECT 1 AS a")
    assert tables.env.list_materialized_tables() == []


def test_full_mode_replaces_all_rows_at_each_time(tables: Tables) -> None:
    tables.add("a.csv", "x,1", "y,2")
    tables.full()
    until(lambda: tables.rows() == [("x", 1), ("y", 2)])
    tables.add("a.csv", "x,5")
    until(lambda: tables.rows() == [("x", 5)])


def test_full_mode_removes_partitions_that_the_query_lacks(tables: Tables) -> None:
    tables.add("a.csv", "x,1", "y,2")
    tables.full("SELECT k, v FROM bounded", "PARTITIONED BY (k)")
    until(lambda: tables.rows() == [(1,), (2,)])
    tables.add("a.csv", "y,2")
    until(lambda: tables.rows() == [(2,)])


def test_a_suspended_table_of_full_mode_is_not_refreshed(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.full()
    until(lambda: tables.rows() == [("x", 1)])
    tables.sql("ALTER MATERIALIZED TABLE mt SUSPEND")
    tables.add("a.csv", "x,2")
    with pytest.raises(ValidationError, match="refresh workflow has been suspended"):
        tables.sql("ALTER MATERIALIZED TABLE mt SUSPEND")
    assert tables.rows() == [("x", 1)]
    tables.sql("ALTER MATERIALIZED TABLE mt RESUME")
    until(lambda: tables.rows() == [("x", 2)])


def test_refresh_replaces_the_rows_now(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.full(more="COMMENT 'c'")
    tables.sql("ALTER MATERIALIZED TABLE mt SUSPEND")
    tables.add("a.csv", "x,7")
    ((job_id, where),) = tables.sql("ALTER MATERIALIZED TABLE mt REFRESH")
    assert len(job_id) == 32 and where == {"execution.target": "local"}
    until(lambda: tables.rows() == [("x", 7)])


def test_refresh_of_a_partition_leaves_the_others(tables: Tables) -> None:
    tables.add("a.csv", "x,1", "y,2")
    tables.full("SELECT v, k FROM bounded", "PARTITIONED BY (k)")
    until(lambda: tables.rows() == [(1,), (2,)])
    tables.sql("ALTER MATERIALIZED TABLE mt SUSPEND")
    tables.add("a.csv", "x,10", "y,20")
    tables.sql("ALTER MATERIALIZED TABLE mt REFRESH PARTITION (k = 'x')")
    until(lambda: tables.rows() == [(2,), (10,)])
    tables.add("a.csv", "y,20")
    tables.sql("ALTER MATERIALIZED TABLE mt REFRESH PARTITION (k = 'x')")
    until(lambda: tables.rows() == [(2,)])


def test_unknown_partitions_and_those_that_are_no_texts_are_refused(tables: Tables) -> None:
    tables.full("SELECT k, v FROM bounded", "PARTITIONED BY (v)")
    with pytest.raises(ValidationError, match=r"unknown partition keys:\n\nk\n\nAll known partition keys are:\n\nv"):
        tables.sql("ALTER MATERIALIZED TABLE mt REFRESH PARTITION (k = 'x')")
    with pytest.raises(ValidationError, match="only supports referring to char, varchar and string type"):
        tables.sql("ALTER MATERIALIZED TABLE mt REFRESH PARTITION (v = 1)")


def test_another_query_appends_columns_and_begins_anew(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.continuous()
    until(lambda: tables.rows() == [("x", 1)])
    tables.sql("ALTER MATERIALIZED TABLE mt AS SELECT k, v + 100 AS v, UPPER(k) AS u FROM src")
    until(lambda: tables.rows() == [("x", 1), ("x", 101, "X")])
    assert tables.table().schema.get_column_names() == ["k", "v", "u"]
    assert "+ 100" in tables.table().expanded_query


def test_a_query_that_cannot_run_leaves_the_one_before(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.continuous()
    until(lambda: tables.rows() == [("x", 1)])
    before = tables.table().expanded_query
    with pytest.raises(ValidationError, match="Failed to start the continuous refresh job using new query"):
        tables.sql("ALTER MATERIALIZED TABLE mt AS SELECT k, MAX(v) AS v FROM src GROUP BY k")
    assert tables.table().expanded_query == before
    assert tables.table().refresh_status is RefreshStatus.ACTIVATED
    tables.add("b.csv", "y,2")
    until(lambda: tables.rows() == [("x", 1), ("y", 2)])


def test_another_query_of_full_mode_is_that_of_the_next_refresh(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.full()
    until(lambda: tables.rows() == [("x", 1)])
    tables.sql("ALTER MATERIALIZED TABLE mt AS SELECT k, SUM(v) + 1 AS s, MAX(v) AS m FROM bounded GROUP BY k")
    until(lambda: tables.rows() == [("x", 2, 1)])
    with pytest.raises(ScurryError, match="to_nothing"):
        tables.sql("ALTER MATERIALIZED TABLE mt AS SELECT k, SUM(to_nothing) AS s, MAX(v) AS m FROM bounded GROUP BY k")
    assert "to_nothing" not in tables.table().expanded_query


def test_create_or_alter_with_resume_keeps_the_state(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.continuous()
    until(lambda: tables.rows() == [("x", 1)])
    tables.sql(
        f"CREATE OR ALTER MATERIALIZED TABLE mt WITH ({tables.files()}) START_MODE = RESUME_OR_FROM_BEGINNING "
        "AS SELECT k, v * 10 AS v FROM src"
    )
    tables.add("b.csv", "y,2")
    until(lambda: tables.rows() == [("x", 1), ("y", 20)])


def test_create_or_alter_creates_or_begins_anew(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    create = f"CREATE OR ALTER MATERIALIZED TABLE mt WITH ({tables.files()}) FRESHNESS = INTERVAL '1' SECOND AS "
    tables.sql(f"{create} SELECT k, v FROM src")
    until(lambda: tables.rows() == [("x", 1)])
    tables.sql(f"{create} SELECT k, v + 1 AS v FROM src")
    until(lambda: tables.rows() == [("x", 1), ("x", 2)])


def test_a_dropped_table_is_written_no_more(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.continuous()
    until(lambda: tables.rows() == [("x", 1)])
    tables.sql("DROP MATERIALIZED TABLE mt")
    tables.add("b.csv", "y,2")
    assert tables.env.list_tables() == ["bounded", "src"]
    tables.sql(f"CREATE MATERIALIZED TABLE other WITH ({tables.files('other')}) AS SELECT * FROM src")
    until(lambda: tables.rows("other") == [("x", 1), ("y", 2)])
    assert tables.rows() == [("x", 1)]


def test_a_table_is_read_and_feeds_others(tables: Tables) -> None:
    tables.add("a.csv", "x,1", "x,2")
    tables.continuous()
    until(lambda: len(tables.rows()) == 2)
    tables.sql(
        f"CREATE MATERIALIZED TABLE sums WITH ({tables.files('sums')}) FRESHNESS = INTERVAL '1' SECOND "
        "REFRESH_MODE = FULL AS SELECT k, SUM(v) AS s FROM mt GROUP BY k"
    )
    until(lambda: tables.rows("sums") == [("x", 3)])


def test_columns_are_found_by_name(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.continuous("SELECT k, v FROM src", "(v, k)")
    until(lambda: tables.rows() == [(1, "x")])


def test_describe_extended_shows_the_refreshing(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.continuous()
    until(lambda: dict(tables.sql("DESCRIBE EXTENDED mt"))["job status"] == "RUNNING")
    found = dict(tables.sql("DESCRIBE EXTENDED mt"))
    assert (found["refresh mode"], found["refresh status"], found["job status"]) == (
        "CONTINUOUS",
        "ACTIVATED",
        "RUNNING",
    )
    assert found["freshness"] == "INTERVAL '1' SECOND" and len(found["job id"]) == 32
    tables.sql("ALTER MATERIALIZED TABLE mt SUSPEND")
    assert dict(tables.sql("DESCRIBE EXTENDED mt"))["refresh status"] == "SUSPENDED"


def test_describe_extended_shows_the_last_refresh_and_its_failure(tables: Tables) -> None:
    tables.add("a.csv", "x,1")
    tables.full("SELECT k, 10 / v AS d FROM bounded")
    until(lambda: dict(tables.sql("DESCRIBE EXTENDED mt"))["last refresh"] is not None)
    assert dict(tables.sql("DESCRIBE EXTENDED mt"))["cron expression"] == "0/1 * * * * ? *"
    tables.add("a.csv", "x,0")
    until(lambda: "by zero" in str(dict(tables.sql("DESCRIBE EXTENDED mt"))["error"]))
    assert tables.rows() == [("x", 10)]
    tables.add("a.csv", "x,2")
    until(lambda: tables.rows() == [("x", 5)])
    until(lambda: dict(tables.sql("DESCRIBE EXTENDED mt"))["error"] is None)


def test_periodic_refreshes_replace_the_partition_of_their_time(tables: Tables) -> None:
    from datetime import UTC, datetime

    year = str(datetime.now(UTC).year)
    tables.env.get_config().set("table.local-time-zone", "UTC")
    tables.add("a.csv", f"{year},1", "1999,2")
    tables.full("SELECT v, k FROM bounded", "PARTITIONED BY (k)", **{"partition.fields.k.date-formatter": "yyyy"})
    until(lambda: tables.rows() == [(1,)])
    assert [path.name for path in (tables.directory / "mt").iterdir() if "=" in path.name] == [f"k={year}"]
    tables.sql("ALTER MATERIALIZED TABLE mt REFRESH PARTITION (k = '1999')")
    until(lambda: tables.rows() == [(1,), (2,)])


def test_statements_that_wait_for_insertions_do_not_wait_for_the_continuous_job(tables: Tables) -> None:
    tables.env.get_config().set("table.dml-sync", "true")
    tables.add("a.csv", "x,1")
    tables.continuous()
    until(lambda: tables.rows() == [("x", 1)])
    tables.sql("DROP MATERIALIZED TABLE mt")
    tables.full("SELECT v, k FROM bounded")
    tables.add("a.csv", "x,7")
    tables.sql("ALTER MATERIALIZED TABLE mt REFRESH")
    assert tables.rows() == [(7, "x")]


@pytest.mark.parametrize("drop", ["DROP DATABASE other.d CASCADE", "DROP CATALOG other"])
def test_what_contains_a_table_ends_it(tables: Tables, drop: str) -> None:
    tables.add("a.csv", "x,1")
    tables.sql("CREATE CATALOG other WITH ('type' = 'generic_in_memory')")
    tables.sql("CREATE DATABASE other.d")
    tables.sql(f"CREATE MATERIALIZED TABLE other.d.mt WITH ({tables.files()}) AS SELECT k, v FROM src")
    until(lambda: tables.rows() == [("x", 1)])
    tables.sql(drop)
    tables.add("b.csv", "y,2")
    tables.sql(f"CREATE MATERIALIZED TABLE mt WITH ({tables.files('later')}) AS SELECT k, v FROM src")
    until(lambda: tables.rows("later") == [("x", 1), ("y", 2)])
    assert tables.rows() == [("x", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["CONTINUOUS", "FULL"])
def test_rows_lag_behind_by_the_freshness(tmp_path: Path, mode: str) -> None:
    """bench/freshness.py measures how much; here the bound leaves room for a machine ten times slower."""
    made, freshness, lags = Tables(tmp_path), 4, []
    query = "SELECT k, v FROM src" if mode == "CONTINUOUS" else "SELECT k, MAX(v) AS v FROM bounded GROUP BY k"
    made.sql(
        f"CREATE MATERIALIZED TABLE mt WITH ({made.files()}) FRESHNESS = INTERVAL '{freshness}' SECOND "
        f"REFRESH_MODE = {mode} AS {query}"
    )
    for number in range(3):
        made.add(f"{number}.csv", f"k{number},1")
        at = time.monotonic()
        until(lambda number=number: (f"k{number}", 1) in made.rows())  # type: ignore[misc]
        lags.append(time.monotonic() - at)
    made.sql("DROP MATERIALIZED TABLE mt")
    assert max(lags) < 10 * 1.5 * freshness


def test_start_modes_that_sources_cannot_follow_are_refused(tables: Tables) -> None:
    for mode in ("FROM_NOW", "FROM_NOW(INTERVAL '1' HOUR)", "FROM_TIMESTAMP(TIMESTAMP '2024-01-01 00:00:00')"):
        with pytest.raises(UnsupportedError, match=r"START_MODE = FROM_\w+ is not supported"):
            tables.sql(f"CREATE MATERIALIZED TABLE mt WITH ({tables.files()}) START_MODE = {mode} AS SELECT * FROM src")


def test_set_and_reset_are_refused(tables: Tables) -> None:
    tables.continuous()
    for action in ("SET ('a' = 'b')", "RESET ('a')", "SET FRESHNESS = INTERVAL '1' HOUR", "SET REFRESH_MODE = FULL"):
        with pytest.raises(UnsupportedError, match="Flink 2.3 has no SET and RESET"):
            tables.sql(f"ALTER MATERIALIZED TABLE mt {action}")


def test_other_tables_have_no_refresh(tables: Tables) -> None:
    with pytest.raises(ValidationError, match="is not a materialized table, does not support"):
        tables.sql("ALTER MATERIALIZED TABLE src SUSPEND")
    with pytest.raises(ValidationError, match="Cannot find table"):
        tables.sql("ALTER MATERIALIZED TABLE nope SUSPEND")
