"""Patterns answer as Flink's do, on cases recorded from flink-cep 2.3.0 (`shared/conformance/cep/CepOracle.java`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import TESTS
from support.cep_cases import run
from support.conformance import CONFORMANCE

PUBLIC = CONFORMANCE / "cep" / "public"

#: random patterns: with groups in groups, and with everything, as automata and as jobs; long ones, which fail, too;
#: with conditions on earlier events, groups, windows of both kinds and late events in one
RECORDED = ("nested.jsonl", "random.jsonl", "deep.jsonl", "mixed.jsonl")


def cases(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def by_key(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer whose outputs are in the order that has a meaning: that of each key, and of late events."""
    outputs: dict[Any, list[Any]] = {}
    for output in answer.get("out", ()):
        outputs.setdefault("late" if "late" in output else output.get("key"), []).append(output)
    return {**answer, "out": outputs}


def different(path: Path) -> list[str]:
    """Return the cases of a file that are answered in another way."""
    found = cases(path)
    assert found
    return [case["id"] for case in found if by_key(run(case)) != by_key(case["expected"])]


@pytest.mark.skipif(not PUBLIC.exists(), reason="the recorded answers are not there")
@pytest.mark.parametrize("name", ["hand.jsonl", "invalid.jsonl", "random.jsonl", "random_job.jsonl"])
def test_the_same_matches_come_in_the_same_order_and_patterns_are_refused_in_the_same_words(name: str) -> None:
    assert different(PUBLIC / name) == []


@pytest.mark.parametrize("name", RECORDED)
def test_random_patterns_give_the_same_matches_in_the_same_order(name: str) -> None:
    assert different(TESTS / "fixtures" / "cep" / name) == []


def test_a_repeated_group_without_an_event_is_refused_where_flink_does_not_end() -> None:
    group = [{"link": "begin", "name": "b", "ops": [["where", ["name", "b"]], ["optional"]]}]
    stages = [{"link": "begin", "name": "a", "ops": []}, {"link": "next", "group": group, "ops": [["oneOrMore"]]}]
    events = [{"id": f"e{time}", "name": "a", "ts": time} for time in range(3)]
    error = run({"mode": "nfa", "pattern": {"stages": stages}, "events": events})["error"]
    assert "can match without an event, so that it would not end (nor does it in Flink)" in error["message"]
