"""The README's programs print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import scurry

PROJECT = Path(__file__).parents[2]
BLOCKS = re.findall(
    r"```(python|sql)\n(.*?)```\n+```text\n(.*?)```", (PROJECT / "README.md").read_text("utf-8"), re.DOTALL
)


@pytest.mark.parametrize(("language", "program", "printed"), BLOCKS, ids=[language for language, _, _ in BLOCKS])
def test_a_program_prints_what_the_readme_shows(language: str, program: str, printed: str, tmp_path: Path) -> None:
    file = tmp_path / {"python": "sales.py", "sql": "sales.sql"}[language]
    file.write_text(program)
    command = [sys.executable, "-m", "scurry", "run", "--runner", "local", "--parallelism", "1", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed


def test_the_programs_are_those_of_the_clone() -> None:
    (python, sql) = (program for _, program, _ in BLOCKS)
    assert (PROJECT / "examples" / "sales.py").read_text(encoding="utf-8").endswith(f"annotations\n\n{python}")
    assert (PROJECT / "examples" / "sales.sql").read_text(encoding="utf-8") == sql
