"""The queries of the tests of Flink's planner: operators and changes are Flink's, for nearly all that scurry plans."""

from __future__ import annotations

from collections import Counter

import pytest

from support.planner_cases import JAR, cases, parsed
from support.planner_plans import Compared, Planner

#: Suites about what scurry does not have: models, vectors, delta joins, and plans of the internals of tests.
LEFT_OUT = {
    "DeltaJoinTest", "LegacyTableFactoryTest", "MLPredictTableFunctionTest", "MatchRecognizeTest", "MultiJoinTest",
    "ProcessTableFunctionTest", "VectorSearchTableFunctionTest",
}  # fmt: skip


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
        if case.suite not in LEFT_OUT:
            planner = planners.get(case.suite) or planners.setdefault(case.suite, Planner(case.suite))
            found.append(planner.compared(case))
    planned = [each for each in found if each.refusal is None]
    differing = [each for each in planned if not each.agrees]
    shown = "\n".join(f"{each.case.suite}.{each.case.name}: {each.flinks} {each.ours}" for each in differing)
    refused = Counter(each.refusal for each in found if each.refusal is not None)
    assert len(planned) >= 800, refused.most_common(40)
    assert len(differing) <= 0.1 * len(planned), shown
