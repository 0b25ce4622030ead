"""STREAMING statements run as one job of the job graph, exactly once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import EvaluationError, UnsupportedError
from scurry.table import EnvironmentSettings, TableEnvironment


def environment(streaming: bool = True, **settings: Any) -> TableEnvironment:
    mode = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(mode)
    for key, value in {"scurry.runner": "local", "parallelism.default": "2", **settings}.items():
        env.get_config().set(key, value)
    return env


def write(directory: Path, name: str, *rows: dict[str, Any]) -> None:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def files(env: TableEnvironment, name: str, columns: str, directory: Path, **options: str) -> None:
    given = {"connector": "filesystem", "path": str(directory), "format": "json", **options}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({listed})")


def read(directory: Path) -> list[dict[str, Any]]:
    parts = [part for part in directory.rglob("part-*") if part.is_file()] if directory.exists() else []
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as results:
        return sorted(map(tuple, results), key=str)


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


def test_an_operator_without_streaming_is_refused_by_its_name(tmp_path: Path) -> None:
    env = environment()
    files(env, "t", "a INT, b STRING", tmp_path)
    with pytest.raises(UnsupportedError, match="GroupAggregate in STREAMING"):
        rows(env, "SELECT b, COUNT(*) FROM t GROUP BY b")


def test_a_failing_function_fails_the_query_with_its_own_error() -> None:
    with pytest.raises(EvaluationError, match="For input string: 'x'"):
        rows(environment(), "SELECT CAST(b AS INT) FROM (VALUES ('x')) AS v (b)")


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "nothing has happened for 20 seconds"
        time.sleep(0.01)


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
