"""State of a script's own dataclass, which has more fields in the script's next version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("main_class.py")


def run(*arguments: str) -> list[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()


@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.in_turn])])
def test_a_dataclass_of_the_main_module_takes_added_fields(tmp_path: Path, runner: str) -> None:
    savepoint = run("local", str(tmp_path / "first"))[-1]
    found = run(runner, str(tmp_path / "second"), savepoint)
    restored = [line for line in found if line.endswith("level='old', tags=['added'])")]
    assert restored and "hits=1," not in restored[0]
    assert len({line.split("'")[1] for line in found}) == 17
