"""The front page is the README's, and its pictures show what was measured and printed."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

from support.docs.front_page import INDEX, README, front_page

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


def test_the_front_page_is_the_readme_and_the_list_of_pages() -> None:
    assert INDEX.read_text(encoding="utf-8") == front_page()


def test_the_list_has_every_page_above_the_directories() -> None:
    listed = set(re.findall(r"^\| \[[^]]+\]\(([\w-]+\.md)\)", INDEX.read_text(encoding="utf-8"), re.MULTILINE))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md", "scenarios.md", "recipes.md"} <= listed


def test_the_chart_shows_the_table_of_the_performance_page() -> None:
    chart = runpy.run_path(str(ROOT / "tools" / "ratio_chart.py"))
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert (PICTURES / "beside.svg").read_text(encoding="utf-8") == chart["drawn"](page)
    assert len(chart["ratios"](page)) == len(chart["FASTER"]) + len(chart["SLOWER"])
    assert all(ratio > 1 for _, ratio, _ in chart["ratios"](page))


def test_the_terminal_shows_a_recording_of_what_the_readme_says() -> None:
    terminal = runpy.run_path(str(ROOT / "tools" / "terminal_picture.py"))
    lines = (PICTURES / "terminal.cast").read_text(encoding="utf-8").splitlines()
    picture = (PICTURES / "terminal.svg").read_text(encoding="utf-8")
    assert picture == terminal["drawn"](lines)
    ElementTree.fromstring(picture)
    (_, last) = terminal["screens"](lines)[-1]
    results = re.findall(r"```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert {line for result in results for line in result.splitlines()} <= set(last)
    assert [line.removeprefix("$ ") for line in last if line.startswith("$ ")] == list(terminal["COMMANDS"])
    assert max(map(len, last)) <= terminal["COLUMNS"]
