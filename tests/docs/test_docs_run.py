"""The examples in docs/ do what they say: each `python` block followed by a `text` block prints the latter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import scurry

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)
EXAMPLES = [
    pytest.param(code, expected, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.rglob("*.md"))
    for number, (code, expected) in enumerate(EXAMPLE.findall(page.read_text()))
]


@pytest.mark.parametrize(("code", "expected"), EXAMPLES)
def test_example_prints_what_the_page_says(code: str, expected: str, tmp_path: Path) -> None:
    program = tmp_path / "example.py"
    program.write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
    command = [sys.executable, "-m", "scurry", "run", "--runner", "local", "--parallelism", "1", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected


def test_there_are_examples() -> None:
    assert EXAMPLES
