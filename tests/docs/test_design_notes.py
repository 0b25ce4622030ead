"""Design notes are numbered, listed, and short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import TESTS

DESIGN = TESTS.parent / "docs" / "design"
NOTES = sorted(DESIGN.glob("[0-9]*.md"))


def test_they_are_numbered_without_gaps() -> None:
    assert [int(note.name[:3]) for note in NOTES] == list(range(1, len(NOTES) + 1))


def test_the_index_lists_them_with_their_titles() -> None:
    listed = re.findall(r"^\| \[(\d+)\]\((.+)\) \| (.+) \|$", (DESIGN / "README.md").read_text(), re.MULTILINE)
    titles = [note.read_text().partition("\n")[0].removeprefix("# ").split(": ", 1) for note in NOTES]
    assert listed == [(number, note.name, title) for note, (number, title) in zip(NOTES, titles, strict=True)]


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_each_has_context_decision_and_consequences_on_one_page(note: Path) -> None:
    text = note.read_text()
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert len(text.split()) <= 500
