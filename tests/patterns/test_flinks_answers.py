"""Patterns answer as Flink's do, on the cases recorded from flink-cep 2.3.0 (`shared/conformance/cep`)."""

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


def by_key(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer whose outputs are in the order that has a meaning: that of each key, and of late events."""
    outputs: dict[Any, list[Any]] = {}
    for output in answer.get("out", ()):
        outputs.setdefault("late" if "late" in output else output.get("key"), []).append(output)
    return {**answer, "out": outputs}


@pytest.mark.parametrize("name", ["hand.jsonl", "invalid.jsonl", "random.jsonl", "random_job.jsonl"])
def test_the_same_matches_come_in_the_same_order_and_patterns_are_refused_in_the_same_words(name: str) -> None:
    found = cases(name)
    assert found
    assert [case["id"] for case in found if by_key(run(case)) != by_key(case["expected"])] == []
