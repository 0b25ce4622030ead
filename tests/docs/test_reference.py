"""The generated pages of docs/reference are those of today's declarations."""

from __future__ import annotations

import re

import pytest

from scurry import errors
from scurry.sql.functions import catalogue
from support.docs.reference import REFERENCE, described_functions, pages

PAGES = pages()

#: Names under which the planner finds what SQL writes otherwise.
INTERNAL = {
    "$JSON", "!=", "AND", "BITMAP_ANDNOT", "FIELD", "ITEM", "MINUS_DATE", "MINUS_PREFIX", "NEGATE", "NOT",
    "PLUS", "PLUS_PREFIX", "SAFE_CAST",
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_not_stale(name: str) -> None:
    message = "run PYTHONPATH=tests python -m support.docs.reference"
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name], message


def test_every_function_of_the_catalogue_is_described() -> None:
    described = " ".join(signatures for _, signatures, _ in described_functions())
    words = set(re.findall(r"[A-Z][A-Z0-9_]*", described))
    for name in catalogue.names():
        if name not in INTERNAL and re.match("[A-Z]", name):
            assert set(name.split()) <= words, name


def test_every_error_says_its_cure() -> None:
    page = PAGES["errors.md"]
    for name in errors.__all__:
        cls = getattr(errors, name)
        if issubclass(cls, errors.ScurryError) and cls is not errors.ScurryError:
            assert re.search(rf"# {name}\n\n.+\n\n\*\*Cure:\*\* \S", page), name
