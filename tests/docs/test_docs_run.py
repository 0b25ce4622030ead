"""The examples in docs/ do what they say: each `python` block followed by a `text` block prints the latter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(r"^```python\n((?:(?!```)[^\n]*\n)*)```\n+```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(code, expected, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.rglob("*.md"))
    for number, (code, expected) in enumerate(EXAMPLE.findall(page.read_text()))
]


@pytest.mark.parametrize(("code", "expected"), EXAMPLES)
def test_example_prints_what_the_page_says(
    code: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, as `scurry run --runner local --parallelism 1` runs it."""
    program = tmp_path / "example.py"
    program.write_text(code)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    status = run_program(program, [], LaunchOptions(runner="local", parallelism=1), debug=False)
    printed = capfd.readouterr()
    assert status == 0, printed.err
    assert printed.out == expected


def test_there_are_examples() -> None:
    assert EXAMPLES
