"""Type checkers infer what the programs of this directory say, and reject those that are wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(path for path in Path(__file__).parent.glob("*.py") if path.name != Path(__file__).name)

WRONG_PROGRAM = """
from scurry.datastream import DataStream

def build(lines: DataStream[str]) -> None:
    lines.map(lambda line: line.length)
    lines.map(len).map(str.upper)
"""


def mypy(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """With the settings and the cache of `make lint`."""
    command = [sys.executable, "-m", "mypy", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_programs_have_the_types_they_assert() -> None:
    done = mypy(*PROGRAMS)
    assert done.returncode == 0, done.stdout


def test_errors_are_in_the_words_of_the_api(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(WRONG_PROGRAM)
    found = mypy(program).stdout.splitlines()
    assert ['"str" has no attribute "length"' in found[0], "MapFunction[int, Any]" in found[1]] == [True, True], found
