"""Operations have the descriptions that savepoints of earlier versions have of them: else they refuse their state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scurry.sql.operators.identities import state_description
from scurry.sql.plan.nodes import Plan
from scurry.table import EnvironmentSettings, TableEnvironment

RECORDED = [json.loads(line) for line in Path(__file__).with_name("state_descriptions.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda each: each["query"][:60])
def test_descriptions_of_state_stay_what_they_were(recorded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def describing(plan: Plan) -> str:
        found.append(state_description(plan))
        return found[-1]

    monkeypatch.setattr("scurry.sql.operators.lowering.state_description", describing)
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("scurry.runner", "local")
    tables.execute_sql(
        "CREATE TABLE s (k BIGINT, v BIGINT, t STRING, ts TIMESTAMP(3), p AS PROCTIME(), "
        "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    )
    tables.execute_sql(
        "CREATE TABLE r (k BIGINT, x STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED) "
        "WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    )
    list(tables.execute_sql(recorded["query"]).collect())
    assert set(recorded["descriptions"]) <= set(found)
