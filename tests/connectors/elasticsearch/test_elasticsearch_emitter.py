"""Records as documents: their JSON, and what is none."""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.connectors.elasticsearch.emitter import MapEmitter
from scurry.errors import RecordRejectedError

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


def document_of(record: Any) -> str:
    (action,) = MapEmitter("i", None, None, False).actions([record])
    _, document, end = action.lines.decode().split("\n")
    assert end == ""
    return document


@given(st.dictionaries(st.text() | st.integers() | st.booleans(), VALUES))
def test_documents_are_those_of_json(record: dict[Any, Any]) -> None:
    assert document_of(record) == json.dumps(record, ensure_ascii=False)


def test_values_without_a_form_in_json_have_one() -> None:
    day, number = datetime.date(2026, 11, 30), decimal.Decimal("1.5")
    assert json.loads(document_of({"d": day, "n": [number], "b": b"x"})) == {"d": "2026-11-30", "n": [1.5], "b": "eA=="}


def test_what_is_no_json_is_refused() -> None:
    circular: dict[str, Any] = {}
    circular["self"] = [circular]
    for record in ({"v": float("nan")}, {"v": object()}, {(1, 2): 3}, circular):
        with pytest.raises(RecordRejectedError, match="it is no JSON"):
            document_of(record)


def test_no_encoder_is_made_for_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than to write a small document."""
    monkeypatch.setattr(json.encoder, "c_make_encoder", lambda *arguments: pytest.fail("one was made"))
    assert document_of({"v": 1}) == '{"v": 1}'
