"""What a changed statement is told about the state of an earlier one: which operator, and what has changed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError
from support.statements.tables import environment, files, read, until, write

GROUPED = "SELECT k, SUM(v) FROM t WHERE v > 0 GROUP BY k"
JOINED = "SELECT t.k, u.w FROM t JOIN u ON t.k = u.k"
TOP = "SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t) WHERE n <= 2"
COLUMNS = "k STRING, v INT"


def start(directory: Path, query: str, columns: str = COLUMNS, **settings: str) -> Any:
    env = environment(**{"parallelism.default": "1", **settings})
    options = {"source.monitor-interval": "20 ms"}
    files(env, "t", columns, directory / "in", **options)
    files(env, "u", "k STRING, w BIGINT", directory / "other", **options)
    files(env, "written", "k STRING, n BIGINT", directory / "out", format="debezium-json")
    return env.execute_sql(f"INSERT INTO written {query}").get_job_client()


def saved(directory: Path, query: str) -> str:
    write(directory / "in", "f1", {"k": "a", "v": 1}, {"k": "b", "v": 2})
    write(directory / "other", "f1", {"k": "a", "w": 1}, {"k": "b", "w": 2})
    job = start(directory, query)
    until(lambda: len(read(directory / "out")) >= 2)
    return str(job.stop_with_savepoint(False, str(directory / "savepoints")).result())


@pytest.mark.parametrize(
    ("before", "after", "columns", "message"),
    [
        (GROUPED, "SELECT k, SUM(v) + MAX(v) FROM t GROUP BY k", COLUMNS,
         "select=[k, SUM(v)] has become select=[k, SUM(v), MAX(v)]"),
        (GROUPED, "SELECT k, COUNT(v) FROM t GROUP BY k", COLUMNS,
         "select=[k, SUM(v)] has become select=[k, COUNT(v)]"),
        (GROUPED, "SELECT k, SUM(DISTINCT v) FROM t GROUP BY k", COLUMNS,
         "select=[k, SUM(v)] has become select=[k, SUM(DISTINCT v)]"),
        (GROUPED, "SELECT 'x', SUM(v) FROM t GROUP BY v", COLUMNS, "groupBy=[k] has become groupBy=[v]"),
        (GROUPED, "SELECT k, SUM(v) FROM t GROUP BY k, v", COLUMNS, "groupBy=[k] has become groupBy=[k, v]"),
        (GROUPED, GROUPED, "k STRING, v BIGINT", "(STRING, INT) has become (STRING, BIGINT)"),
        (GROUPED, GROUPED.replace("SELECT k", "SELECT CAST(k AS STRING)"), "k INT, v INT",
         "(STRING, INT) has become (INT, INT)"),
        (JOINED, JOINED.replace("JOIN", "LEFT JOIN"), COLUMNS,
         "joinType=[InnerJoin] has become joinType=[LeftOuterJoin]"),
        (JOINED, JOINED + " AND t.v < u.w", COLUMNS, "where=[=(k, k0)] has become where=["),
        (TOP, TOP.replace("DESC", "ASC"), COLUMNS, "orderBy=[v DESC"),
        (TOP, TOP.replace("n <= 2", "n <= 5"), COLUMNS, "rankEnd=2] has become"),
        (TOP, TOP.replace("PARTITION BY k", "PARTITION BY v"), COLUMNS, "partitionBy=[k] has become partitionBy=[v]"),
    ],
)  # fmt: skip
def test_the_operator_and_what_has_changed_are_named(
    before: str, after: str, columns: str, message: str, tmp_path: Path
) -> None:
    savepoint = saved(tmp_path, before)
    job = start(tmp_path, after, columns, **{"execution.state-recovery.path": savepoint})
    with pytest.raises(ScurryError, match=re.escape(message)):
        job.get_job_execution_result().result()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (GROUPED, "SELECT k, SUM(v) FROM t WHERE v > 0 AND k <> 'b' GROUP BY k"),
        (GROUPED, "SELECT UPPER(k), SUM(v) * 2 FROM t WHERE v > 0 GROUP BY k"),
        (GROUPED, "SELECT k, s FROM (SELECT k, SUM(v) AS s FROM t WHERE v > 0 GROUP BY k) WHERE s < 100"),
        (JOINED, JOINED + " WHERE t.v > 0"),
    ],
)
def test_filters_and_projections_may_change(before: str, after: str, tmp_path: Path) -> None:
    savepoint = saved(tmp_path, before)
    count = len(read(tmp_path / "out"))
    job = start(tmp_path, after, **{"execution.state-recovery.path": savepoint})
    write(tmp_path / "in", "f2", {"k": "a", "v": 3})
    until(lambda: len(read(tmp_path / "out")) > count)
    job.cancel().result()
