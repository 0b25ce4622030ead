"""tests/README.md, CONTRIBUTING.md and architecture.md say where things are, and what to read first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import TESTS

README = (TESTS / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")


ARCHITECTURE = (TESTS.parent / "docs" / "architecture.md").read_text(encoding="utf-8")


def directories(parent: Path) -> set[str]:
    return {path.name for path in parent.iterdir() if path.is_dir() and any(path.rglob("*.py"))} - {"__pycache__"}


def test_the_directories_of_tests_are_listed_and_no_others() -> None:
    cells = re.findall(r"^\| (`.*?) \|", README, re.MULTILINE)
    listed = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert listed == directories(TESTS) | directories(TESTS / "support")


@pytest.mark.parametrize(("file", "name"), re.findall(r"`(runtime/\S+\.py): ([\w.]+)`", CONTRIBUTING))
def test_what_a_newcomer_looks_for_is_where_contributing_says(file: str, name: str) -> None:
    source = (TESTS.parent / "src" / "scurry" / file).read_text(encoding="utf-8")
    for part in name.split("."):
        assert re.search(rf"^ *(def|class) {part}\b", source, re.MULTILINE)


def test_the_reading_path_has_at_most_three_thousand_lines() -> None:
    files = re.findall(r"`(\w+/\S+\.py)`", ARCHITECTURE.split("## Reading path")[1].split("\n## ")[0])
    sources = [(TESTS.parent / "src" / "scurry" / file).read_text(encoding="utf-8") for file in files]
    assert len(files) == 12
    assert sum(source.count("\n") for source in sources) <= 3000


def test_what_tests_wait_for_has_more_than_a_minute() -> None:
    """A busy machine takes ten times as long."""
    hurried = re.compile(r"monotonic\(\) \+ [1-5]?\d\b|communicate\(timeout=[1-5]?\d\b")
    files = {path.relative_to(TESTS): path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    assert {str(path): hurried.findall(text) for path, text in files.items() if hurried.search(text)} == {}
