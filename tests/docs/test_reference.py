"""The generated pages of docs/reference are those of today's declarations."""

from __future__ import annotations

import importlib
import operator
import re

import pytest

from scurry import errors
from scurry.common._config.validation import known_options
from scurry.sql.functions import catalogue
from scurry.sql.functions.aggregate.catalogue import aggregate_names
from support.docs.reference import _STREAMS, _TABLES, REFERENCE, described_functions, pages

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
    described = " ".join(signatures for _, signatures, _, _ in described_functions())
    words = set(re.findall(r"[A-Z][A-Z0-9_]*", described))
    for name in catalogue.names():
        if name not in INTERNAL and re.match("[A-Z]", name):
            assert set(name.split()) <= words, name


def test_every_aggregate_is_described() -> None:
    described = " ".join(signatures for section, signatures, _, _ in described_functions() if section == "Aggregates")
    words = set(re.findall(r"[A-Z][A-Z0-9_]*", described))
    assert {name for name in aggregate_names() if not name.startswith("$")} <= words


def test_each_key_is_described_once_and_those_without_effect_stand_apart() -> None:
    page, _, without = PAGES["configuration.md"].partition("## Keys without effect")
    options = {option.key: option for option in known_options()}
    keys = re.findall(r'<a id="(.+?)">', page), re.findall(r'<a id="(.+?)">', without)
    assert sorted([*keys[0], *keys[1]]) == sorted(options)
    assert set(keys[1]) == {key for key, option in options.items() if option.instead}
    assert set(re.findall(r"\(#(.+?)\)", page)) <= set(keys[0])


def test_every_error_says_its_cure() -> None:
    page = PAGES["errors.md"]
    for name in errors.__all__:
        cls = getattr(errors, name)
        if issubclass(cls, errors.ScurryError) and cls is not errors.ScurryError:
            assert re.search(rf"# {name}\n\n.+\n\n\*\*Cure:\*\* \S", page), name


@pytest.mark.parametrize(("package", "classes"), [("datastream", _STREAMS), ("table", _TABLES)])
def test_the_members_that_are_used_most_exist(package: str, classes: dict[str, str]) -> None:
    for name, members in classes.items():
        if not members:
            continue
        found = operator.attrgetter(name)(importlib.import_module(f"scurry.{package}"))
        assert [member for member in members.split() if not hasattr(found, member)] == [], name
