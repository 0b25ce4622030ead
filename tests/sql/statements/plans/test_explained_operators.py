"""EXPLAIN shows the operators that Flink 2.3 shows: how tables are read, phases of windows, and shared parts."""

from __future__ import annotations

import re

import pytest

from scurry.table import EnvironmentSettings, ExplainDetail, TableEnvironment

#: Operators of the execution plan, as Flink has them. Flink also shares an Exchange, which scurry does per reader.
RECORDED = {
    "SELECT a, s FROM t WHERE a > 1": ["Calc", "+- WatermarkAssigner", "   +- TableSourceScan"],
    "SELECT a + 1 AS b, ts FROM c WHERE a > 1": [
        "Calc",
        "+- WatermarkAssigner",
        "   +- Calc",
        "      +- TableSourceScan",
    ],
    "SELECT window_start, a, COUNT(*) AS n, SUM(a) AS m FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
    "INTERVAL '10' SECOND)) GROUP BY window_start, window_end, a": [
        "Calc",
        "+- GlobalWindowAggregate",
        "   +- Exchange",
        "      +- LocalWindowAggregate",
        "         +- WatermarkAssigner",
        "            +- TableSourceScan",
    ],
    "SELECT s, COUNT(*) FROM o GROUP BY s UNION ALL SELECT s, COUNT(*) FROM o GROUP BY s": [
        "Union",
        ":- GroupAggregate (reuse_id=[1])",
        ":  +- Exchange",
        ":     +- TableSourceScan",
        "+- Reused (reference_id=[1])",
    ],
    "SELECT a, s FROM t WHERE 1 = 0": ["Values"],
}


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    files = "WITH ('connector' = 'filesystem', 'path' = '/none', 'format' = '{}')"
    watermark = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    env.execute_sql(f"CREATE TABLE t (a INT, s STRING, ts TIMESTAMP(3), {watermark}) {files.format('json')}")
    env.execute_sql(
        f"CREATE TABLE c (a INT, s STRING, ts AS TO_TIMESTAMP(s), p AS PROCTIME(), {watermark}) {files.format('json')}"
    )
    env.execute_sql(f"CREATE TABLE o (s STRING, n BIGINT) {files.format('json')}")
    env.execute_sql(f"CREATE TABLE d (a INT PRIMARY KEY NOT ENFORCED, s STRING) {files.format('debezium-json')}")
    env.execute_sql(
        "CREATE TABLE k (a INT PRIMARY KEY NOT ENFORCED, s STRING) WITH ('connector' = 'upsert-kafka', 'topic' = 't', "
        "'properties.bootstrap.servers' = 'none:1', 'key.format' = 'json', 'value.format' = 'json')"
    )
    return env


def operators(text: str) -> list[str]:
    plan = text.partition("== Optimized Execution Plan ==\n")[2].strip().splitlines()
    return [re.sub(r"\(.*?(?:\)(\((?:reuse)_id=\[\d+\]\)))?$", _number, line) for line in plan]


def _number(found: re.Match[str]) -> str:
    if "reference_id" in found[0]:
        return f" {found[0]}"
    return f" {found[1]}" if found[1] else ""


@pytest.mark.parametrize("query", RECORDED)
def test_operators_are_flinks(environment: TableEnvironment, query: str) -> None:
    assert operators(environment.explain_sql(query)) == RECORDED[query]


def test_rows_before_updates_are_dropped_where_nobody_needs_them(environment: TableEnvironment) -> None:
    text = environment.explain_sql("INSERT INTO k SELECT a, s FROM d")
    assert operators(text) == ["Sink", "+- DropUpdateBefore", "   +- TableSourceScan"]
    shown = environment.explain_sql("INSERT INTO k SELECT a, s FROM d", ExplainDetail.CHANGELOG_MODE)
    assert "DropUpdateBefore(changelogMode=[I,UA,D])" in shown
    assert "fields=[a, s], changelogMode=[I,UB,UA,D]" in shown


def test_parts_of_several_sinks_are_shared(environment: TableEnvironment) -> None:
    statements = environment.create_statement_set()
    statements.add_insert_sql("INSERT INTO o SELECT s, a + 1 FROM t WHERE a > 1")
    statements.add_insert_sql("INSERT INTO o SELECT s, a + 1 FROM t WHERE a > 1")
    shown = operators(statements.explain())
    assert shown[0] == "Calc (reuse_id=[1])"
    assert [each for each in shown if each][-4:] == ["Sink", "+- Reused (reference_id=[1])"] * 2
