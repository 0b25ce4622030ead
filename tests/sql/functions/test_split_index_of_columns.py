"""SPLIT_INDEX of a column with constants gives what it gives of each text."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.sql.functions.scalar.splitting import _parts_at, split_index

TEXTS = st.lists(st.none() | st.text("ab/é ", max_size=8), max_size=20)


@given(TEXTS, st.text("ab/é ", min_size=1, max_size=2), st.integers(0, 4), st.integers(0, 3))
def test_parts_are_those_of_each_text(texts: list[str | None], separator: str, index: int, first: int) -> None:
    column = pa.array(texts, pa.string()).slice(first)
    expected = [None if text is None else split_index(text, separator, index) for text in texts[first:]]
    assert _parts_at(column, separator, index).to_pylist() == expected


@pytest.mark.parametrize("index", [2**31 - 1, 2**31 - 2])
def test_no_text_has_so_many_parts(index: int) -> None:
    assert _parts_at(pa.array(["a/b", "c/d/e"]), "/", index).to_pylist() == [None, None]
