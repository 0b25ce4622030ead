"""The recipe for Redis of docs/how-to/serving.md, with a client that remembers what it was told."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from support import TESTS

PAGE = (TESTS.parent / "docs" / "how-to" / "serving.md").read_text(encoding="utf-8")
#: The methods of redis-py that the recipe calls.
CLIENT = """
from pathlib import Path

class Redis:
    def __init__(self, port):
        self.waiting = []

    def pipeline(self, transaction):
        return self

    def set(self, key, value):
        self.waiting.append(f"SET {key} {value}")

    def __len__(self):
        return len(self.waiting)

    def execute(self):
        with Path("commands").open("a") as file:
            file.writelines(f"{command}\\n" for command in self.waiting)
        self.waiting = []
"""


def test_redis_gets_the_latest_total_of_each_key_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = re.findall(r"```python\n(import redis\n.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for name in [each for each in sys.modules if each.partition(".")[0] == "redis"]:
        monkeypatch.delitem(sys.modules, name)  # the client, where another test has imported it
    (tmp_path / "redis.py").write_text(CLIENT)
    (tmp_path / "program.py").write_text(program)
    assert run_program(tmp_path / "program.py", [], LaunchOptions(runner="local", parallelism=1), debug=False) == 0
    assert (tmp_path / "commands").read_text().splitlines() == ["SET total:tea 3", "SET total:cup 1", "SET total:tea 5"]
