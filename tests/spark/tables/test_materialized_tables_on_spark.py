"""Materialized tables of lakes, refreshed by jobs on Spark: streaming ones, and batch ones that replace all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.table import TableEnvironment
from support.statements.tables import environment, files, rows, until, write

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

CATALOGS: dict[str, Callable[[Path], str]] = {
    "delta": lambda directory: f"'type' = 'delta', 'warehouse' = '{directory}/lake'",
    "iceberg": lambda directory: (
        f"'type' = 'iceberg', 'catalog-type' = 'sql', 'uri' = 'sqlite:///{directory}/catalog.db', "
        f"'warehouse' = 'file://{directory}/lake'"
    ),
}


class Lake:
    """An environment on Spark with a catalog `lake` and a table of files `src`."""

    def __init__(self, directory: Path, kind: str) -> None:
        self.directory, self.kind = directory, kind
        (directory / "lake").mkdir()
        self.env = self._environment("spark", True)
        self.env.execute_sql("CREATE DATABASE IF NOT EXISTS lake.shop")
        files(self.env, "src", "k STRING, v INT", directory / "src", **{"source.monitor-interval": "50 ms"})
        files(self.env, "bounded", "k STRING, v INT", directory / "src")

    def _environment(self, runner: str, streaming: bool) -> TableEnvironment:
        settings = {"scurry.runner": runner, "parallelism.default": "2", "execution.checkpointing.interval": "200 ms"}
        env = environment(streaming, **settings)
        env.execute_sql(f"CREATE CATALOG lake WITH ({CATALOGS[self.kind](self.directory)})")
        return env

    def rows(self) -> list[tuple[Any, ...]]:
        return rows(self._environment("local", False), "SELECT * FROM lake.shop.mt")


@pytest.fixture(params=list(CATALOGS))
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Lake(tmp_path, request.param)
    yield made
    made.env.execute_sql("DROP MATERIALIZED TABLE IF EXISTS lake.shop.mt")


def test_both_modes(lake: Lake) -> None:
    write(lake.directory / "src", "a", {"k": "x", "v": 1})
    lake.env.execute_sql(
        "CREATE MATERIALIZED TABLE lake.shop.mt FRESHNESS = INTERVAL '1' SECOND AS SELECT k, v FROM src"
    )
    until(lambda: lake.rows() == [("x", 1)])
    lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt SUSPEND")
    write(lake.directory / "src", "b", {"k": "y", "v": 2})
    lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt RESUME")
    until(lambda: lake.rows() == [("x", 1), ("y", 2)])
    lake.env.execute_sql("DROP MATERIALIZED TABLE lake.shop.mt")
    lake.env.execute_sql(
        "CREATE MATERIALIZED TABLE lake.shop.mt FRESHNESS = INTERVAL '1' DAY "
        "AS SELECT k, SUM(v) AS s FROM bounded GROUP BY k"
    )
    for name, total in (("c", 12), ("d", 22)):
        write(lake.directory / "src", name, {"k": "y", "v": 10})
        lake.env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt REFRESH")
        until(lambda total=total: lake.rows() == [("x", 1), ("y", total)])  # type: ignore[misc]
