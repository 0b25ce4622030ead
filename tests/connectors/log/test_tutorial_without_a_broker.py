"""The job of docs/tutorials/kafka.md runs on a log, with the line that the page adds to it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from scurry.datastream.connectors.log import FileLog
from support import TESTS


def test_payments_become_totals_on_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (TESTS.parent / "docs" / "tutorials" / "kafka.md").read_text(encoding="utf-8")
    (job,) = [each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "env.execute(" in each]
    (line,) = re.findall(r"^    (from scurry.datastream.connectors.log .*)$", page, re.MULTILINE)
    (payments,) = re.findall(r'FileLog\(\).append\("payments", (\[.*?\])\)', page)
    (shown,) = re.findall(r"^    (\['.*\])$", page, re.MULTILINE)
    program = tmp_path / "totals.py"
    program.write_text(job.replace("\n\ndef parse", f"\n{line}\n\n\ndef parse"))
    monkeypatch.setenv("SCURRY_LOG_DIR", str(tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    FileLog().append("payments", ast.literal_eval(payments))
    options = LaunchOptions(configuration={"execution.checkpointing.dir": "checkpoints"}, runner="local")
    assert run_program(program, [], options, debug=False) == 0
    found = sorted(str(record.value, "utf-8") for record in FileLog().read("totals") if record.value is not None)
    assert str(found) == shown
