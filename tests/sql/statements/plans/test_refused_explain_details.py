"""The details of EXPLAIN that there are in each mode, and those that are refused."""

from __future__ import annotations

import pytest

from scurry.errors import UnsupportedError
from scurry.table import EnvironmentSettings, ExplainDetail, TableEnvironment


def environment(mode: str) -> TableEnvironment:
    made = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{mode}_mode")())
    made.get_config().set("scurry.runner", "local")
    return made


@pytest.mark.parametrize("mode", ["batch", "streaming"])
@pytest.mark.parametrize("others", ["", ", CHANGELOG_MODE"])
def test_costs_are_refused_with_the_reason(mode: str, others: str) -> None:
    t_env = environment(mode)
    with pytest.raises(UnsupportedError, match="no costs are estimated here"):
        t_env.execute_sql(f"EXPLAIN ESTIMATED_COST{others} SELECT 1")
    with pytest.raises(UnsupportedError, match="no costs are estimated here"):
        t_env.from_elements([(1,)], ["a"]).explain(ExplainDetail.ESTIMATED_COST)


def test_changes_advice_and_operators_are_shown_in_streaming() -> None:
    table = environment("streaming").from_elements([(1,)], ["a"])
    details = ExplainDetail.CHANGELOG_MODE, ExplainDetail.PLAN_ADVICE, ExplainDetail.JSON_EXECUTION_PLAN
    text = table.explain(*details)
    assert "changelogMode=[I]" in text
    assert "== Optimized Physical Plan With Advice ==" in text
    assert "== Physical Execution Plan ==" in text


def test_advice_is_refused_in_batch_as_in_flink() -> None:
    with pytest.raises(UnsupportedError, match="PLAN_ADVICE is not supported under batch mode"):
        environment("batch").from_elements([(1,)], ["a"]).explain(ExplainDetail.PLAN_ADVICE)
