"""What EXPLAIN shows besides plans."""

from __future__ import annotations

import json

import pytest

from scurry.table import EnvironmentSettings, ExplainDetail, TableEnvironment


@pytest.fixture
def env() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql("CREATE TABLE numbers (v INT) WITH ('connector' = 'datagen')")
    env.execute_sql("CREATE TABLE sums (s INT) WITH ('connector' = 'blackhole')")
    return env


@pytest.mark.parametrize(
    ("statement", "sink"),
    [
        ("SELECT SUM(v) FROM numbers", "Sink: Collect"),
        ("INSERT INTO sums SELECT SUM(v) FROM numbers", "Sink: Sink[default_catalog.default_database.sums]"),
    ],
)
def test_the_operators_of_the_job_are_shown_as_json(env: TableEnvironment, statement: str, sink: str) -> None:
    text = env.explain_sql(statement, ExplainDetail.JSON_EXECUTION_PLAN)
    operators = json.loads(text.partition("== Physical Execution Plan ==")[2])["nodes"]
    assert operators[0]["pact"] == "Data Source"
    assert operators[-1]["type"] == sink
    assert {each["built_at"].rpartition(":")[0] for each in operators} == {__file__}
