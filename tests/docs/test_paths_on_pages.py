"""Pages for developers name files and packages that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "scurry"
BASES = (ROOT, PACKAGE, PACKAGE / "sql" / "operators", ROOT / "docs", ROOT / "tests", ROOT / "tests" / "support")
#: In checkpoint directories.
OF_CHECKPOINTS = {"assignments/replays", "checkpoints/ID", "frames/"}
#: Spark's classes, a word of SQL, and a file.
OTHERS = {"FileSystemBasedCheckpointFileManager", "MemoryStream", "ML_PREDICT", "CHANGELOG.md"}
#: The name of a class, a function or a constant.
DEFINITION = re.compile(r"^ *(?:class |(?:async )?def )?(\w+)(?=[(\[:]| =)", re.MULTILINE)
PAGES = ["CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md", "tests/README.md"]
PAGES += [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs" / "design").glob("*.md"))]


def paths_on(page: str) -> set[str]:
    """What is written as a path: `a/b`, `b.py` or `b.py: name`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"`([a-z_][\w./]*(?:/\w*|\.py))(?:[: ][^`]*)?`", text)
    return {*found, *re.findall(r"`([\w./-]+\.(?:md|txt|toml))`", text)} - OF_CHECKPOINTS


def is_there(path: str) -> bool:
    near = any((base / each).exists() for base in BASES for each in (path, f"{path}.py"))
    return near or any(PACKAGE.glob(f"**/{path}"))


@pytest.mark.parametrize("page", PAGES)
def test_paths_on_a_page_exist(page: str) -> None:
    assert sorted(path for path in paths_on(page) if not is_there(path)) == []


def names_on(page: str) -> set[str]:
    """What is written as a class, a constant or `Class.method`."""
    return set(re.findall(r"`(_?[A-Z]\w+(?:\.\w+)*)`", (ROOT / page).read_text(encoding="utf-8"))) - OTHERS


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_names_on_a_page_are_in_the_code(page: str) -> None:
    files = [file for base in ("src", "tests") for file in (ROOT / base).rglob("*.py")]
    defined = {name for file in files for name in DEFINITION.findall(file.read_text(encoding="utf-8"))}
    assert len(names_on(page)) > 20
    assert sorted(name for name in names_on(page) if not defined.issuperset(name.split("."))) == []
