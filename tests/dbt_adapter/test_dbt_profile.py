"""Profiles: what is wrong is told in one line, and tokens are not."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.tests.util import run_dbt_and_capture
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.scurry.connections import with_other_inequality
from dbt.adapters.scurry.credentials import ScurryCredentials

pytestmark = pytest.mark.dbt


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "`path` names a directory"),
        ({"path": "w", "mode": "fast"}, "`mode` of the profile is batch or streaming, got 'fast'"),
        ({"url": "http://a:1", "host": "b"}, "by `url` or by `host`"),
        ({"path": "w", "port": 8083}, "`port` of the profile goes with `host`"),
        ({"url": "ftp://a"}, "`url` of the profile is that of a gateway"),
        ({"url": "http://:secret-token@a:1"}, "write it as `token`"),
        ({"path": "w", "catalog_options": {"type": "delta"}}, "name others by `catalog_options`"),
    ],
)
def test_a_wrong_option_is_named(given: dict[str, Any], named: str) -> None:
    with pytest.raises(DbtRuntimeError) as raised:
        ScurryCredentials(**given)
    assert named in str(raised.value)
    assert "secret-token" not in str(raised.value)


def test_a_token_is_shown_nowhere() -> None:
    credentials = ScurryCredentials(host="gateway", token="secret-token")
    assert "secret-token" not in repr(credentials)
    assert "token" not in dict(credentials.connection_info())
    assert credentials.endpoint == "scurry://gateway:8083"


def test_tables_are_files_unless_the_profile_names_another_catalog() -> None:
    assert ScurryCredentials(path="w").options_of_tables == {"format": "parquet"}
    assert ScurryCredentials(path="w", table_options={"connector": "delta"}).options_of_tables == {"connector": "delta"}
    assert ScurryCredentials(catalog_options={"type": "iceberg"}).options_of_tables == {}


def test_inequality_is_written_anew_outside_of_texts_and_comments() -> None:
    text = "SELECT a != 1, 'x != y', `a!=b` -- != \n/* != */ FROM t WHERE b!=2"
    assert with_other_inequality(text) == "SELECT a <> 1, 'x != y', `a!=b` -- != \n/* != */ FROM t WHERE b<>2"


def test_debug_names_the_option_of_an_unreachable_gateway(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "dbt_project.yml").write_text("name: shop\nversion: '1'\nprofile: shop\n")
    target = {"type": "scurry", "host": "127.0.0.1", "port": port, "token": "secret-token", "path": "/w"}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump({"shop": {"target": "a", "outputs": {"a": target}}}))
    debug = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "debug"]
    done = subprocess.run(debug, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    (line,) = [each for each in done.stdout.splitlines() if "of the profile" in each]
    assert "no SQL gateway answers" in line and "(option `host` of the profile)" in line
    logged = (tmp_path / "logs" / "dbt.log").read_text()
    assert "secret-token" not in done.stdout + done.stderr + logged


class TestErrors:
    """Errors of SQL reach the user with line and place."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"wrong.sql": "{{ config(materialized='table') }}\nSELECT 1 AS a,\n  nope AS b\n"}

    def test_line_and_place_are_shown(self, project: Any) -> None:
        _, shown = run_dbt_and_capture(["run"], expect_pass=False)
        assert "Column 'nope' not found in any table" in shown
        assert "|   nope AS b" in shown and "      ^^^^" in shown
