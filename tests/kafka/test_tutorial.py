"""The programs of docs/tutorials/kafka.md, one after the other, on a real broker."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import TESTS
from support.kafka.broker import Kafka

pytestmark = pytest.mark.kafka


def test_payments_become_totals_that_readers_of_committed_messages_see(kafka: Kafka, tmp_path: Path) -> None:
    page = (TESTS.parent / "docs" / "tutorials" / "kafka.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (shown,) = re.findall(r"^    (\['.*\])$", page, re.MULTILINE)
    printed = ""
    for number, program in enumerate(programs):
        file = tmp_path / f"step_{number}.py"
        file.write_text(program.replace("localhost:9092", kafka.address))
        command = [sys.executable, "-m", "scurry", "run", "--runner", "local", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    assert printed == f"{shown}\n"
