"""The automaton answers as Flink's does, on the cases recorded from flink-cep 2.3.0 (`shared/conformance/cep`)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.cep_cases import run
from support.conformance import CONFORMANCE

PUBLIC = CONFORMANCE / "cep" / "public"

pytestmark = pytest.mark.skipif(not PUBLIC.exists(), reason="the recorded answers are not there")


def cases(name: str) -> list[dict[str, Any]]:
    path = PUBLIC / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("name", ["hand.jsonl", "invalid.jsonl", "random.jsonl"])
def test_the_automaton_emits_the_same_matches_in_the_same_order_and_refuses_in_the_same_words(name: str) -> None:
    found = [case for case in cases(name) if case.get("mode", "nfa") == "nfa"]
    assert found
    assert [case["id"] for case in found if run(case) != case["expected"]] == []
