"""STREAMING statements run as one job of the job graph, exactly once."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import EvaluationError
from support import TESTS
from support.statements.tables import environment, files, read, rows, until, write


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a + 1, UPPER(b) FROM t WHERE a > 1",
        "SELECT a FROM t UNION ALL SELECT a * 10 FROM t WHERE b = 'x'",
        "SELECT a, e FROM t CROSS JOIN UNNEST(c) AS u (e)",
        "SELECT a, x FROM (VALUES (1, 'one'), (2, 'two')) AS v (a, x)",
        "SELECT 1 FROM t",
    ],
)
def test_a_query_has_the_rows_that_it_has_in_batch(query: str, tmp_path: Path) -> None:
    write(tmp_path / "in", "f1", {"a": 1, "b": "x", "c": [1, 2]}, {"a": 2, "b": "y", "c": []})
    write(tmp_path / "in", "f2", {"a": 3, "b": "x", "c": [3, None]}, {"a": None, "b": None, "c": None})
    found = []
    for streaming in (True, False):
        env = environment(streaming)
        files(env, "t", "a INT, b STRING, c ARRAY<INT>", tmp_path / "in")
        found.append(rows(env, query))
    assert found[0] == found[1]
    assert found[0]


def test_the_sinks_of_a_statement_set_are_one_job_that_reads_the_table_once(tmp_path: Path) -> None:
    env = environment()
    write(tmp_path / "in", "f", {"a": 1, "b": "x"}, {"a": 2, "b": "y"})
    files(env, "t", "a INT, b STRING", tmp_path / "in")
    files(env, "numbers", "a INT", tmp_path / "numbers")
    files(env, "words", "b STRING", tmp_path / "words")
    statements = env.create_statement_set()
    statements.add_insert_sql("INSERT INTO numbers SELECT a FROM t WHERE a > 1")
    statements.add_insert_sql("INSERT INTO words SELECT b FROM t")
    statements.execute().wait()
    assert read(tmp_path / "numbers") == [{"a": 2}]
    assert read(tmp_path / "words") == [{"b": "x"}, {"b": "y"}]


def test_a_failing_function_fails_the_query_with_its_own_error() -> None:
    with pytest.raises(EvaluationError, match="For input string: 'x'"):
        rows(environment(), "SELECT CAST(b AS INT) FROM (VALUES ('x')) AS v (b)")


def test_a_job_resumes_from_its_savepoint_and_writes_each_row_once(tmp_path: Path) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        files(env, "t", "a INT", tmp_path / "in", **{"source.monitor-interval": "20 ms"})
        files(env, "written", "a INT", tmp_path / "out")
        return env.execute_sql("INSERT INTO written SELECT a FROM t WHERE a > 0").get_job_client()

    def values() -> list[int]:
        return sorted(row["a"] for row in read(tmp_path / "out"))

    write(tmp_path / "in", "f1", {"a": 0}, {"a": 1})
    job = start()
    until(lambda: values() == [1])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "in", "f2", {"a": 2}, {"a": 3})
    resumed = start(**{"execution.state-recovery.path": savepoint})
    try:
        until(lambda: values() == [1, 2, 3])
    finally:
        resumed.cancel().result()
    assert values() == [1, 2, 3]


def test_generated_rows_arrive_at_their_rate_without_an_end() -> None:
    env = environment()
    env.execute_sql("CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100')")
    with env.execute_sql("SELECT n FROM t").collect() as results:
        found = [next(results) for _ in range(5)]
    assert len(found) == 5


def test_a_query_that_a_thread_of_its_own_job_forgets_is_cancelled(tmp_path: Path) -> None:
    env = environment()
    env.execute_sql("CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100')")
    before = threading.enumerate()
    results = env.execute_sql("SELECT n FROM numbers").collect()
    next(results)
    (job,) = [each for each in threading.enumerate() if each.name == "scurry-job" and each not in before]
    forgetting = threading.Thread(target=results.close)
    forgetting.start()
    forgetting.join(0.5)
    assert not forgetting.is_alive()
    job.join(20)
    assert not job.is_alive()


def test_a_program_ends_though_it_forgets_a_query_without_an_end() -> None:
    program = """
from support.statements.tables import environment

env = environment()
env.execute_sql("CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100')")
results = env.execute_sql("SELECT n FROM numbers").collect()
next(results)
"""
    tests = TESTS
    subprocess.run([sys.executable, "-c", program], cwd=tests, check=True, timeout=60)


def test_metrics_count_rows(tmp_path: Path) -> None:
    env = environment()
    write(tmp_path / "in", "f", {"a": 1}, {"a": 2}, {"a": 3})
    files(env, "t", "a INT", tmp_path / "in")
    files(env, "o", "a INT", tmp_path / "out")
    result = env.execute_sql("INSERT INTO o SELECT a FROM t WHERE a > 1")
    result.wait()
    client = result.get_job_client()
    assert client is not None
    metrics = client.get_metrics().result()
    read_rows = {
        name: value for name, value in metrics.items() if "TableSourceScan" in name and "numRecordsOut" in name
    }
    written = {name: value for name, value in metrics.items() if name.endswith("numRecordsIn")}
    assert list(read_rows.values()) == [3], metrics
    assert list(written.values()) == [2], metrics
