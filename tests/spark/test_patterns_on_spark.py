"""Patterns on Spark answer as Flink's do, on the cases recorded from flink-cep 2.3.0.

In CI some cases of each kind; all of them nightly. Events without watermarks are matched in BATCH, too.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from scurry.errors import ScurryError
from support.cep_jobs import outputs
from support.conformance import CONFORMANCE

PUBLIC = CONFORMANCE / "cep" / "public"
FILES = ("hand.jsonl", "random.jsonl", "random_job.jsonl")

#: Cases of the automaton alone that are others as a job, with Flink too: there time advances once for several events of
#: the same time.
DIFFERENT = {"rnd-02608"}

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not PUBLIC.exists(), reason="the recorded answers are not there"),
]


def cases() -> list[dict[str, Any]]:
    """Return the cases that run: those that Flink refuses are refused when the pattern is made."""
    found = [json.loads(line) for name in FILES for line in (PUBLIC / name).read_text().splitlines()]
    return [case for case in found if "out" in case["expected"] and case["id"] not in DIFFERENT and is_by_time(case)]


def is_by_time(case: dict[str, Any]) -> bool:
    """Return whether events are in event time; for others the wall clock of Spark says when they come."""
    return case.get("time") != "processing"


def by_key(found: list[dict[str, Any]]) -> dict[Any, list[Any]]:
    """Return outputs in the order that has a meaning: that of each key, and of late events."""
    grouped: dict[Any, list[Any]] = {}
    for each in found:
        plain = {name: value for name, value in each.items() if name not in ("at", "key")}
        grouped.setdefault("late" if "late" in each else each.get("key", "k"), []).append(plain)
    return grouped


def different(some: list[dict[str, Any]], mode: str = "STREAMING") -> list[str]:
    found = outputs(some, "spark", mode)
    return [case["id"] for case, got in zip(some, found, strict=True) if by_key(got) != by_key(case["expected"]["out"])]


def without_watermarks(some: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in some if case["mode"] == "nfa"]


def test_some_patterns_find_on_spark_what_flink_finds() -> None:
    assert different([case for case in cases() if "error" not in case["expected"]][::180]) == []


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_all_patterns_find_on_spark_what_flink_finds(part: int) -> None:
    some = [case for case in cases() if "error" not in case["expected"]][part::20]
    assert len(some) > 50
    assert different(some) == []


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_all_patterns_find_in_batch_on_spark_what_flink_finds(part: int) -> None:
    some = without_watermarks([case for case in cases() if "error" not in case["expected"]])[part::20]
    assert different(some, "BATCH") == []


@pytest.mark.nightly
@pytest.mark.parametrize("case", [case for case in cases() if "error" in case["expected"]], ids=lambda case: case["id"])
def test_what_fails_with_flink_fails_on_spark(case: dict[str, Any]) -> None:
    for mode in ("STREAMING", "BATCH") if without_watermarks([case]) else ("STREAMING",):
        with pytest.raises(ScurryError) as failed:
            outputs([case], "spark", mode)
        assert case["expected"]["error"]["message"] in str(failed.value)
