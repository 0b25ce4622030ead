"""The file and the mistake of the page on pipelines are what users get."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from scurry.cli.commands import app
from support import TESTS
from support.cdc.databases import MariaDbShop
from support.pipelines.running import run_until, written

PAGE = (TESTS.parent / "docs" / "connectors" / "pipelines.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.servers
def test_the_file_of_the_page_copies_a_database(mariadb_server: Any, tmp_path: Path) -> None:
    from deltalake import DeltaTable

    shop = MariaDbShop(mariadb_server)
    shop.run(
        "DROP DATABASE IF EXISTS app_db",
        "CREATE DATABASE app_db",
        "CREATE TABLE app_db.web_orders (id int PRIMARY KEY, country varchar(2), amount int)",
        "CREATE TABLE app_db.users (id int PRIMARY KEY)",
        "INSERT INTO app_db.web_orders VALUES (1, 'de', 5), (2, 'fr', 0)",
        "INSERT INTO app_db.users VALUES (7)",
    )
    text = block("yaml").replace("port: 3306", f"port: {mariadb_server.port}").replace("localhost", "127.0.0.1")
    path = written(tmp_path / "app_db.yaml", text.replace("path: lake", f"path: {tmp_path}/lake"))

    def rows(table: str) -> list[Any]:
        found: list[Any] = DeltaTable(f"{tmp_path}/lake/ods/{table}").to_pyarrow_table().to_pylist()
        return found

    run_until(path, lambda: bool(rows("web_orders") and rows("users")))
    assert rows("web_orders") == [{"id": 1, "country": "de", "amount": 5, "country_code": "DE"}]
    assert rows("users") == [{"id": 7}]
    shop.close()


def test_the_command_prints_the_mistake_of_the_page(tmp_path: Path) -> None:
    path = written(tmp_path / "app_db.yaml", block("yaml").replace("filter:", "filtr:"))
    result = CliRunner().invoke(app, ["pipeline", "--runner", "local", str(path)])
    assert result.exit_code == 1
    assert block("text").strip() in result.stderr


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["pipeline", str(tmp_path / "none.yaml")])
    assert result.exit_code == 2
    assert "does not exist" in result.output.replace("\n", " ")
