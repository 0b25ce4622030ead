"""Every place that begins a thread is in the table of docs/architecture.md, with the reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import scurry

PACKAGE = Path(scurry.__file__).parent
PAGE = PACKAGE.parents[1] / "docs" / "architecture.md"
#: What begins threads, by module.
BEGINS = {
    "threading": {"Thread", "Timer"},
    "futures": {"ThreadPoolExecutor"},
    "server": {"ThreadingHTTPServer"},
    "_event_loop": {"EventLoopThread"},
    "threads": {"call_soon", "pool"},
}
#: The module with the last two, which begin none where there can be none; others say what for.
THREADS = "common/_process/threads.py"


def beginning_threads(module: Path) -> bool:
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    ours = {
        alias.name for node in imports for alias in node.names
        if alias.name in BEGINS.get((node.module or "").rpartition(".")[2], ())
    }  # fmt: skip
    used = [node.func for node in nodes if isinstance(node, ast.Call)]
    used += [base for node in nodes if isinstance(node, ast.ClassDef) for base in node.bases]
    return any(
        getattr(name, "id", None) in ours
        or (isinstance(name, ast.Attribute) and name.attr in BEGINS.get(getattr(name.value, "id", ""), ()))
        for name in used
    )


def modules() -> Iterator[str]:
    for module in sorted(PACKAGE.rglob("*.py")):
        name = module.relative_to(PACKAGE).as_posix()
        if name != THREADS and not name.startswith("testing/") and beginning_threads(module):
            yield name


def rows() -> list[tuple[str, list[str]]]:
    section = PAGE.read_text(encoding="utf-8").partition("## Threads")[2].partition("\n## ")[0]
    found = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")][1:]
    return [(reason.strip(), re.findall(r"`([\w/]+(?:\.py)?)`", places)) for _, reason, places in found]


def test_the_table_has_each_place_that_begins_threads_and_no_other() -> None:
    listed = [place for _, places in rows() for place in places]
    beginning = set(modules())
    unlisted = {name for name in beginning if not any(name == each or name.startswith(f"{each}/") for each in listed)}
    idle = {each for each in listed if not any(name == each or name.startswith(f"{each}/") for name in beginning)}
    assert (unlisted, idle) == (set(), set())
    assert len(listed) == len(set(listed))


def test_each_has_a_reason() -> None:
    assert rows() and all(len(reason.split()) > 3 for reason, _ in rows())
