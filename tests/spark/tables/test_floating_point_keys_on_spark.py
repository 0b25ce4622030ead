"""Zeros and NaN as keys on Spark are those of Flink, as in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

pytestmark = pytest.mark.spark

#: Queries over doubles `d` and floats `f`; one job has them all.
QUERIES = (
    "SELECT 'group', d, COUNT(*) FROM t GROUP BY d",
    "SELECT 'float', CAST(f AS DOUBLE), COUNT(*) FROM t GROUP BY f",
    "SELECT 'count', CAST(NULL AS DOUBLE), COUNT(DISTINCT d) FROM t",
    "SELECT 'union', d, CAST(1 AS BIGINT) FROM (SELECT d FROM t UNION SELECT d FROM t)",
    "SELECT 'intersect', d, CAST(1 AS BIGINT) FROM (SELECT d FROM t INTERSECT SELECT d FROM t WHERE d = 0)",
    "SELECT 'join', a.d, COUNT(*) FROM t a JOIN t b ON a.d = b.d GROUP BY a.d",
    "SELECT 'in', d, COUNT(*) FROM t WHERE d IN (SELECT d FROM t) GROUP BY d",
)


def test_zeros_and_nan_are_the_keys_of_flink(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("0.0\n-0.0\nNaN\n-0.0\nNaN\n2.0\n", encoding="utf-8")
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.execute_sql(
        "CREATE TABLE texts (x STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{tmp_path / 't.csv'}')"
    )
    env.execute_sql("CREATE VIEW t AS SELECT CAST(x AS DOUBLE) AS d, CAST(x AS FLOAT) AS f FROM texts")
    with env.execute_sql(" UNION ALL ".join(QUERIES)).collect() as rows:
        found = sorted(" ".join(map(str, row)) for row in rows)
    assert found == sorted([
        "group -0.0 2", "group 0.0 1", "group 2.0 1", "group nan 2",
        "float -0.0 2", "float 0.0 1", "float 2.0 1", "float nan 2",
        "count None 4",
        "union -0.0 1", "union 0.0 1", "union 2.0 1", "union nan 1",
        "intersect -0.0 1", "intersect 0.0 1",
        "join -0.0 6", "join 0.0 3", "join 2.0 1",
        "in -0.0 2", "in 0.0 1", "in 2.0 1",
    ])  # fmt: skip
