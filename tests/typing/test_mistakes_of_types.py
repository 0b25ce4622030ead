"""mypy and pyright find each of 66 mistakes, and none in programs without one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = [Path(__file__).parent / "mistakes" / name for name in ("twenty.py", "more.py", "none.py")]

#: File and line of each mistake.
MISTAKES = {
    (program.name, number)
    for program in PROGRAMS
    for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), 1)
    if line.endswith("# mistake")
}


def run(*command: object) -> str:
    done = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout, done.stderr
    return done.stdout


def test_there_are_as_many_as_the_documentation_says() -> None:
    assert len(MISTAKES) == 66


def test_mypy_finds_them_and_no_others() -> None:
    reported = run("mypy", "--config-file", "pyproject.toml", *PROGRAMS)
    found = re.findall(r"^\S*?(\w+\.py):(\d+): error", reported, re.MULTILINE)
    assert {(name, int(number)) for name, number in found} == MISTAKES


@pytest.mark.slow
def test_pyright_finds_them_and_no_others() -> None:
    report = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, *PROGRAMS))
    errors = [each for each in report["generalDiagnostics"] if each["severity"] == "error"]
    assert {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in errors} == MISTAKES
