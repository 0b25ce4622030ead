"""The program of docs/connectors/mongodb.md prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from support.docs.blocks import PAGES
from support.servers.mongodb import MongoServer


@pytest.mark.servers
def test_the_page_is_right(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = PAGES["connectors/mongodb.md"]
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    file = tmp_path / "program.py"
    with MongoServer() as server:
        file.write_text(program.replace("mongodb://localhost:27017", server.uri))
        status = run_program(file, [], LaunchOptions(runner="local", parallelism=1), debug=False)
    shown = capfd.readouterr()
    assert status == 0, shown.err
    assert shown.out == printed
