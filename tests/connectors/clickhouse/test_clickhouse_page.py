"""The program of docs/connectors/clickhouse.md prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from support.docs.blocks import PAGES
from support.servers.clickhouse import PASSWORD, ClickHouseServer


@pytest.mark.servers
def test_the_page_is_right(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = PAGES["connectors/clickhouse.md"]
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (creation,) = re.findall(r"`(CREATE TABLE [^`]*)`", page)
    file = tmp_path / "program.py"
    with ClickHouseServer() as server:
        server.ask("CREATE DATABASE shop")
        server.ask(creation)
        program = program.replace("http://localhost:8123", server.url)
        file.write_text(program.replace('"secret"', f'"{PASSWORD}"').replace("'secret'", f"'{PASSWORD}'"))
        status = run_program(file, [], LaunchOptions(runner="local", parallelism=1), debug=False)
    shown = capfd.readouterr()
    assert status == 0, shown.err
    assert shown.out == printed
