"""NaN and signed zeros in aggregates, frames, joins and keys: rows that Flink 2.3 printed."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "nan_and_zeros.json").read_text(encoding="utf-8"))

LINES = """\
p,NaN,2024-01-01 00:00:01
p,2.0,2024-01-01 00:00:02
q,2.0,2024-01-01 00:00:01
q,NaN,2024-01-01 00:00:02
r,0.0,2024-01-01 00:00:01
r,-0.0,2024-01-01 00:00:02
s,3.0,2024-01-01 00:00:03
s,2.0,2024-01-01 00:00:04
t,-0.0,2024-01-01 00:00:05
t,0.0,2024-01-01 00:00:06
"""


@pytest.mark.parametrize("case", CASES, ids=[f"{case['mode']}: {case['query'][:60]}" for case in CASES])
def test_rows_are_those_of_flink(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "nan.csv").write_text(LINES, encoding="utf-8")
    is_batch = case["mode"] == "batch"
    env = TableEnvironment.create(
        EnvironmentSettings.in_batch_mode() if is_batch else EnvironmentSettings.in_streaming_mode()
    )
    env.get_config().set("scurry.runner", "local").set("table.local-time-zone", "UTC")
    env.execute_sql(
        "CREATE TABLE src (k STRING, s STRING, d AS CAST(s AS DOUBLE), f AS CAST(s AS FLOAT), ts TIMESTAMP(3), "
        "WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{tmp_path / 'nan.csv'}')"
    )
    env.execute_sql(
        "CREATE TEMPORARY VIEW firsts AS SELECT k, s, d FROM (SELECT k, s, d, ROW_NUMBER() OVER (PARTITION BY s "
        "ORDER BY ts DESC) AS rn FROM src) WHERE rn = 1"
    )
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        env.execute_sql(case["query"]).print()
    lines = [line for line in output.getvalue().splitlines() if line.startswith("|")][1:]
    found = [" | ".join(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    assert sorted(found) == sorted(case["rows"])
