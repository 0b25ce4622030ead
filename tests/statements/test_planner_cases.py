"""The queries of the tests of Flink's planner: operators and changes are Flink's, for nearly all that scurry plans."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from support.planner_cases import JAR, cases, parsed
from support.planner_plans import Compared, Planner

#: The queries whose operators or changes are others, by cause: what only one of the plans has.
DIFFERENCES = Path(__file__).parent / "planner_differences.txt"
#: Of the queries that scurry plans, the share whose operators with state and changes are Flink's.
SHARE = 0.9
#: The same for all operators, which say where rows are computed, sent and bundled as well: Calc, Exchange, scans,
#: watermarks, local and global aggregation.
SHARE_OF_ALL_KINDS = 0.15


def test_plans_are_read_as_trees() -> None:
    (union,) = parsed("Union(all=[true])\n:- Calc(a)\n:  +- Scan(x, changelogMode=[I])\n+- Scan(y)")
    assert [node.name for node in union.walk()] == ["Union", "Calc", "Scan", "Scan"]
    assert union.inputs[0].inputs[0].mode == "I"


@pytest.mark.nightly
@pytest.mark.skipif(not JAR.exists(), reason=f"mvn dependency:get has not brought {JAR.name}")
def test_operators_and_changes_are_flinks() -> None:
    found: list[Compared] = []
    planners: dict[str, Planner] = {}
    for case in cases():
        planner = planners.get(case.suite) or planners.setdefault(case.suite, Planner(case.suite))
        found.append(planner.compared(case))
    planned = [each for each in found if each.refusal is None]
    differing = {f"{each.case.suite}.{each.case.name}": each.cause for each in planned if not each.agrees}
    refused = Counter(each.refusal for each in found if each.refusal is not None)
    assert len(planned) >= 830, refused.most_common(40)
    assert len(differing) <= (1 - SHARE) * len(planned), differing
    known = set(known_differences())
    new = {name: cause for name, cause in differing.items() if name not in known}
    assert not new, new
    kinds = Counter(each.differing_kinds for each in planned)
    assert kinds[""] >= SHARE_OF_ALL_KINDS * len(planned), kinds.most_common(40)


def known_differences() -> list[str]:
    """Return the names of the queries of the file, which `# cause` heads."""
    lines = DIFFERENCES.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_differences_have_a_cause_and_are_listed_once() -> None:
    assert DIFFERENCES.read_text(encoding="utf-8").startswith("#")
    assert not [name for name, count in Counter(known_differences()).items() if count > 1]
