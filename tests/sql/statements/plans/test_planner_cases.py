"""The queries of the tests of Flink's planner: operators and changes are Flink's, for nearly all that scurry plans."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from support.planner_cases import JAR, parsed
from support.planner_report import found_of_all, report
from support.planner_shapes import kinds, resolved

#: The queries whose plans are others, by cause.
DIFFERENCES = Path(__file__).parent / "planner_differences.txt"
#: Of the queries that scurry plans, the share whose operators that keep rows and changes are Flink's, and the share
#: whose operators of all kinds are (Calc, Exchange, scans, watermarks, ...), in the form of `planner_shapes`.
SHARE = 0.9
PLANNED = 850


def test_plans_are_read_as_trees() -> None:
    (union,) = parsed("Union(all=[true])\n:- Calc(a)\n:  +- Scan(x, changelogMode=[I])\n+- Scan(y)")
    assert [node.name for node in union.walk()] == ["Union", "Calc", "Scan", "Scan"]
    assert union.inputs[0].inputs[0].mode == "I"


def test_shared_parts_stand_where_they_are_used() -> None:
    roots = parsed("Union(all=[true])\n:- Rank(a)(reuse_id=[1])\n:  +- Scan(x)\n+- Reused(reference_id=[1])")
    assert [node.name for node in resolved(roots)[0].walk()] == ["Union", "Rank", "Scan", "Rank", "Scan"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Calc(select=[a, b AS c])\n+- TableSourceScan(x)", "TableSourceScan(x)"),
        ("Calc(select=[a, -1:BIGINT AS b])\n+- Rank(x)", "Rank(x)"),
        ('Calc(select=[CAST(a AS VARCHAR(9) CHARACTER SET "UTF-16LE") AS b])\n+- Rank(x)', "Rank(x)"),
        ("TableSourceScan(x, filter=[>(a, 1)])", "Calc(select=[a], where=[>(a, 1)])\n+- TableSourceScan(x)"),
        ("TableSourceScan(x, watermark=[a])", "WatermarkAssigner(a)\n+- TableSourceScan(x)"),
        ("DataStreamScan(x)", "LegacyTableSourceScan(x)"),
        (
            "Union(a)\n:- Union(b)\n:  :- Rank(c)\n:  +- Rank(d)\n+- Rank(e)",
            "Union(a)\n:- Rank(b)\n:- Rank(c)\n+- Rank(d)",
        ),
    ],
)
def test_the_same_is_counted_the_same(one: str, other: str) -> None:
    assert kinds(parsed(one), []) == kinds(parsed(other), [])


def test_what_differs_is_counted() -> None:
    rows = "Calc(select=[+(a, 1) AS b])\n+- Rank(c)\n   +- Exchange(d)\n      +- TableSourceScan(x)"
    assert kinds(parsed(rows), []) == {"Calc": 1, "Rank": 1, "Exchange": 1, "TableSourceScan": 1}


@pytest.mark.nightly
@pytest.mark.skipif(not JAR.exists(), reason=f"mvn dependency:get has not brought {JAR.name}")
def test_operators_and_changes_are_flinks() -> None:
    found = list(found_of_all())
    planned = [each for each in found if each.refusal is None]
    shown = report(found)
    assert len(planned) >= PLANNED, shown
    assert sum(not each.cause for each in planned) >= SHARE * len(planned), shown
    assert sum(not each.kinds for each in planned) >= SHARE * len(planned), shown
    differing = {each.name: each.cause or each.kinds for each in planned if not each.agrees}
    known = set(known_differences())
    assert not (new := {name: cause for name, cause in differing.items() if name not in known}), new
    assert not (same := known.difference(differing)), f"these agree or are not planned: {same}"


def known_differences() -> list[str]:
    """Return the names of the queries of the file, which `# cause` heads."""
    lines = DIFFERENCES.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_differences_have_a_cause_and_are_listed_once() -> None:
    assert DIFFERENCES.read_text(encoding="utf-8").startswith("#")
    assert not [name for name, count in Counter(known_differences()).items() if count > 1]
