"""Clients written for Flink work with the gateway: Flink's SQL client and its JDBC driver."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.sql.gateway.sessions import Sessions
from support import TESTS
from support.gateway import Gateway, serving
from support.modules import load_module

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def clients() -> Any:
    module = load_module(TESTS.parent / "tools" / "flink_clients.py", "scurry_flink_clients")
    if not module.PYFLINK.exists():
        pytest.skip("no PyFlink is installed: SCURRY_PYFLINK names the directory of one")
    return module


@pytest.fixture
def open_gateway() -> Iterator[Gateway]:
    with serving(Sessions({"scurry.runner": "local", "parallelism.default": "1"}), None) as gateway:
        yield gateway


def run(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, env={**os.environ, **(environment or {})}
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else f"{done.stdout}\n{done.stderr}"


def test_the_sql_client_of_flink_runs_a_script(clients: Any, open_gateway: Gateway, csv: str, tmp_path: Path) -> None:
    home = clients.home(tmp_path / "flink")
    script = tmp_path / "script.sql"
    script.write_text(
        f"SET 'sql-client.execution.result-mode' = 'tableau';\n{csv};\nSELECT * FROM t;\n"
        "SET 'execution.runtime-mode' = 'batch';\nSELECT name, amount FROM t WHERE id < 3;\nSHOW TABLES;\n"
        "CREATE TABLE s (id INT) WITH ('connector' = 'blackhole');\nINSERT INTO s SELECT id FROM t;\n"
        "SELECT nope FROM t;\n"
    )
    address = open_gateway.url.removeprefix("http://")
    environment = {"FLINK_HOME": str(home), "FLINK_CONF_DIR": str(home / "conf"), "FLINK_LOG_DIR": str(home / "log"),
                   "PATH": f"{clients.PYFLINK.parents[3] / 'bin'}:{os.environ['PATH']}"}  # fmt: skip
    command = [str(home / "bin" / "sql-client.sh"), "gateway", "-e", address, "-f", str(script)]
    command += ["-hist", str(tmp_path / "history")]
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", run(command, environment))
    assert "| +I |           2 |                            bob |                            4.0 |" in shown
    assert "Received a total of 3 rows" in shown
    assert "| name | amount |\n+------+--------+\n|  ann |    3.5 |\n|  bob |    4.0 |" in shown
    assert "2 rows in set (" in shown
    assert "[INFO] SQL update statement has been successfully submitted to the cluster:\nJob ID: " in shown
    assert "Reason:\nscurry.errors.ValidationError: SQL validation failed. From line 1, column 8 to line 1" in shown


def run_java(clients: Any, name: str, gateway: Gateway, *arguments: str) -> list[str]:
    """The lines that a program prints which uses Flink's JDBC driver with a gateway."""
    pyspark = importlib.util.find_spec("pyspark")
    assert pyspark is not None and pyspark.origin is not None
    (slf4j,) = (Path(pyspark.origin).parent / "jars").glob("slf4j-api-*.jar")
    classes = f"{clients.jar('flink-sql-jdbc-driver-bundle')}:{slf4j}"
    url = gateway.url.replace("http", "jdbc:flink")
    return run(["java", "-cp", classes, str(Path(__file__).parent / name), url, *arguments]).splitlines()


def test_the_jdbc_driver_of_flink_runs_queries(clients: Any, open_gateway: Gateway, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,ann,3.5\n2,bob,4\n")
    assert run_java(clients, "FlinkJdbc.java", open_gateway, str(tmp_path / "t.csv")) == [
        "id INT", "name STRING", "amount DOUBLE", "d DECIMAL(10, 2)", "dd DATE NOT NULL", "ts TIMESTAMP(3) NOT NULL",
        "big BOOLEAN", "nothing STRING", "l BIGINT", "b BINARY(2) NOT NULL",
        "m MAP<CHAR(1) NOT NULL, INT> NOT NULL",
        "1|ann|3.5|3.50|2024-01-02|2024-01-02 03:04:05.123|false|null|1|2|{k=1}",
        "2|bob|4.0|4.00|2024-01-02|2024-01-02 03:04:05.123|true|null|2|2|{k=2}",
        "table t", "catalog default_catalog", "refused true",
    ]  # fmt: skip


def test_the_calls_of_zeppelin_that_the_driver_refuses_are_those_of_the_recipe(
    clients: Any, open_gateway: Gateway
) -> None:
    found = run_java(clients, "ZeppelinJdbc.java", open_gateway)
    assert "execute: true" in found
    assert "getString: a" in found
    recipe = (TESTS.parent / "docs" / "recipes.md").read_text().partition("## Zeppelin")[2].partition("\n## ")[0]
    named = re.findall(r"`(is\w+|clear\w+|set\w+|get\w+)`", recipe)
    assert [line.split()[0] for line in found if " refused: " in line] == named
