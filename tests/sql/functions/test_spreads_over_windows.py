"""Variances and deviations of whole numbers in OVER wrap and truncate as Flink 2.3 has answered in STREAMING."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.statements.tables import environment, rows

FIXTURE = Path(__file__).parents[2] / "fixtures" / "flink" / "spreads_over_windows.json"
RECORDED = json.loads(FIXTURE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("query", RECORDED["queries"], ids=["unbounded", "of four rows"])
def test_spreads_are_flinks(tmp_path: Path, query: str) -> None:
    lines = (
        ",".join("NULL" if value is None else str(value) for value in row) + f",2024-01-01 00:00:{second:02d}\n"
        for second, row in enumerate(RECORDED["rows"])
    )
    (tmp_path / "a.csv").write_text("".join(lines))
    env = environment(True)
    env.execute_sql(
        "CREATE TABLE a (k INT, b TINYINT, s SMALLINT, n INT, l BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
        f"('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv', 'csv.null-literal' = 'NULL')"
    )
    found = rows(env, f"SELECT k, {query} FROM a")
    assert sorted(found, key=str) == [tuple(row) for row in RECORDED["queries"][query]]
