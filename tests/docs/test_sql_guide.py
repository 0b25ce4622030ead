"""The pages of docs/sql print what they say, and lead to each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import TESTS
from support.docs.sql_guide import GUIDE, PAGES, TUTORIALS, with_results


@pytest.mark.parametrize("page", [*PAGES, *TUTORIALS], ids=lambda page: page.stem)
def test_statements_print_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(TESTS.parent / "examples")
    text = page.read_text(encoding="utf-8")
    assert with_results(text) == text, "run python -m support.docs.sql_guide"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_ends_with_its_limits_and_the_guide_links_to_it(page: Path) -> None:
    headings = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert headings[-1] == "## Limits"
    assert page.name == "index.md" or f"({page.name})" in (GUIDE / "index.md").read_text(encoding="utf-8")
