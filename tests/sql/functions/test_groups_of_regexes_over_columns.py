"""REGEXP_EXTRACT over a column finds what it finds in each text."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.sql.functions.scalar.regular_expressions import extracted, pattern_of_group, regexp_extract

TEXTS = st.lists(st.one_of(st.none(), st.text(st.sampled_from("ab&=|^-é\n😀"), max_size=8)), max_size=6)
PARTS = st.sampled_from(
    ["a", "b", "&", "=", "(", ")", "|", "^", "*", "+", "?", "[^&]", "[ab]", "[a-b&]", "a*", "(a|b)", "(a*?)", ".", "$"]
)


@given(st.lists(PARTS, max_size=9).map("".join), st.integers(-1, 3), TEXTS)
def test_groups_are_those_of_single_texts(pattern: str, group: int, texts: list[str | None]) -> None:
    plain = pattern_of_group(pattern, group)
    if plain is not None:
        found = extracted(pa.array(texts, pa.string()), plain).to_pylist()
        assert found == [None if text is None else regexp_extract(text, pattern, group) for text in texts]


@pytest.mark.parametrize(
    ("pattern", "group"),
    [
        ("(&|^)channel_id=([^&]*)", 2),
        ("query=[0-9]+", 0),
        ("a(b|c)d", 1),
        ("^(https?)://([^/]+)/", 2),
    ],
)
def test_plain_patterns_are_found_over_columns(pattern: str, group: int) -> None:
    assert pattern_of_group(pattern, group) is not None


@pytest.mark.parametrize(
    ("pattern", "group"),
    [
        ("(a)|b", 1),
        ("((a)|b)", 2),
        ("(a)*", 1),
        ("(?i)a", 0),
        ("a{2}", 0),
        ("[a&&b]", 0),
        ("a$", 0),
        ("[b-a]", 0),
        ("(a|(b))=(.)", 0),
        ("a)", 0),
    ],
)
def test_patterns_that_java_might_read_differently_are_left_to_single_texts(pattern: str, group: int) -> None:
    assert pattern_of_group(pattern, group) is None
