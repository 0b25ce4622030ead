"""Materialized tables that a SQL gateway refreshes: the next one goes on with them when it was killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment
from support.gateway import TOKEN, Gateway
from support.session.refreshed_tables import LakeTables
from support.session.shell import wait_for


class Gateways(LakeTables):
    """Gateways with one catalog store, one after the other."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.processes: list[subprocess.Popen[bytes]] = []
        (home / "files" / "shop" / "src" / "data").mkdir(parents=True)

    def start(self) -> Gateway:
        settings = {
            "table.catalog-store.kind": "file",
            "table.catalog-store.file.path": f"{self.home}/catalogs",
            "parallelism.default": "1",
        }
        given = [part for key, value in settings.items() for part in ("-D", f"{key}={value}")]
        with open(self.said, "wb") as out:
            command = [sys.executable, "-m", "scurry", "gateway", "--port", "0", *given]
            environment = {**os.environ, "SCURRY_REST_TOKEN": TOKEN}
            self.processes.append(subprocess.Popen(command, stdout=out, stderr=out, env=environment))
        found = wait_for(lambda: re.search(r"SQL gateway at (\S+)\n", self.said.read_text()))
        unused: Any = None
        return Gateway(found[1], unused)

    @property
    def said(self) -> Path:
        return self.home / "gateway"

    def kill(self) -> None:
        while self.processes:
            process = self.processes.pop()
            process.kill()
            process.wait()


@pytest.fixture
def gateways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateways]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Gateways(tmp_path)
    yield made
    made.kill()


def test_the_next_gateway_goes_on_with_the_tables_of_one_that_was_killed(gateways: Gateways) -> None:
    gateway, table = gateways.start(), "files.shop.mt"
    session = gateway.open()
    catalog = f"CREATE CATALOG files WITH ('type' = 'filesystem', 'path' = '{gateways.home}/files')"
    gateway.rows(session, catalog)
    gateway.rows(session, "CREATE TABLE files.shop.src (k STRING, v BIGINT) WITH ('format' = 'csv')")
    gateways.write_file("src")
    gateway.rows(
        session,
        f"CREATE MATERIALIZED TABLE {table} WITH ('format' = 'json') FRESHNESS = INTERVAL '1' SECOND "
        "REFRESH_MODE = FULL AS SELECT k, COUNT(*) AS c, SUM(v) AS s FROM files.shop.src GROUP BY k",
    )
    wait_for(lambda: gateways.rows_of_files("mt") == gateways.summed())
    here = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    here.get_config().set("scurry.runner", "local")
    here.execute_sql(catalog)
    here.execute_sql(
        "CREATE MATERIALIZED TABLE files.shop.own WITH ('format' = 'json') FRESHNESS = INTERVAL '1' DAY "
        "REFRESH_MODE = FULL AS SELECT 1 AS a"
    )
    gateways.kill()
    gateways.write_file("src")
    gateway = gateways.start()
    wait_for(lambda: gateways.rows_of_files("mt") == gateways.summed())
    assert f"resumed the materialized table {table}" in gateways.said.read_text()
    assert "files.shop.own" not in gateways.said.read_text()  # it is not a gateway that refreshes it
    session = gateway.open()
    gateway.rows(session, f"ALTER MATERIALIZED TABLE {table} SUSPEND")
    gateways.kill()
    gateways.start()
    shown = {row[0]: row[1] for row in here.execute_sql(f"DESCRIBE EXTENDED {table}").collect()}
    assert shown["refresh status"] == "SUSPENDED"
    here.execute_sql("DROP MATERIALIZED TABLE files.shop.own")
