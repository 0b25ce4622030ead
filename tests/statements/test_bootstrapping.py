"""An INSERT in BATCH over history ends in a savepoint; the same one in STREAMING goes on from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ConfigError, ValidationError
from support.statements.operator_queries import QUERIES, TIME
from support.statements.tables import environment, files, read, write

NAMES = [
    "groups", "tumbling windows", "sessions", "window join", "interval join", "outer join", "anti join",
    "temporal join", "top of added rows", "top of changes", "first row by event time", "last row by event time",
    "over some time before", "over a column", "limited", "intersection", "scalar subquery",
]  # fmt: skip


def at(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}"


def write_part(directory: Path, name: str, start: int) -> None:
    for table in ("t", "u", "rates"):
        some = [
            {"id": second, "k": "abc"[second % 3], "v": second * 7 % 10, "rate": second, "ts": at(second)}
            for second in range(start, start + 100, 4 + len(table))
        ]
        write(directory / table, name, *some)
    changes = []
    for number in range(start, start + 20):
        row = {"id": number, "k": "abd"[number % 3], "v": number * 3 % 10}
        changes.append({"before": None, "after": row, "op": "c"})
        if number % 4 == 0:
            changes.append({"before": row, "after": None, "op": "d"})
    write(directory / "c", name, *changes)


def insert(streaming: bool, query: str, source: Path, target: Path, **settings: str) -> Any:
    env = environment(streaming, **settings)
    for name in ("t", "u"):
        files(env, name, f"id INT, k STRING, v INT, {TIME}", source / name)
    files(env, "rates", f"k STRING, rate INT, {TIME}, PRIMARY KEY (k) NOT ENFORCED", source / "rates")
    files(env, "c", "id INT, k STRING, v INT", source / "c", format="debezium-json")
    other = environment()
    for each in ("t", "u", "rates", "c"):
        other.execute_sql(env.execute_sql(f"SHOW CREATE TABLE {each}").collect().next()[0])
    types = other.sql_query(query).get_resolved_schema().get_column_data_types()
    listed = ", ".join(
        f"c{number} {each.as_summary_string().replace('*ROWTIME*', '').replace(' NOT NULL', '')}"
        for number, each in enumerate(types)
    )
    files(env, "written", listed, target, format="debezium-json")
    job = env.execute_sql(f"INSERT INTO written {query}").get_job_client()
    assert job is not None
    return job.get_job_execution_result().result()


def table_of(directory: Path) -> list[str]:
    found: list[str] = []
    for message in read(directory):
        if message["before"] is not None:
            found.append(json.dumps(message["before"]))
    left = [json.dumps(message["after"]) for message in read(directory) if message["after"] is not None]
    for each in found:
        left.remove(each)
    return sorted(left)


@pytest.mark.parametrize("name", NAMES)
def test_what_goes_on_has_the_same_final_table_as_streaming_from_the_start(name: str, tmp_path: Path) -> None:
    write_part(tmp_path / "history", "f1", 0)
    write_part(tmp_path / "live", "f2", 100)
    write_part(tmp_path / "both", "f1", 0)
    write_part(tmp_path / "both", "f2", 100)
    ending = {"scurry.final-savepoint.dir": str(tmp_path / "savepoints"), "parallelism.default": "1"}
    history = insert(False, QUERIES[name], tmp_path / "history", tmp_path / "out", **ending)
    starting = {"execution.state-recovery.path": history.get_savepoint_path(), "parallelism.default": "3"}
    insert(True, QUERIES[name], tmp_path / "live", tmp_path / "out", **starting)
    insert(True, QUERIES[name], tmp_path / "both", tmp_path / "whole", **{"parallelism.default": "1"})
    assert table_of(tmp_path / "out") == table_of(tmp_path / "whole")
    assert table_of(tmp_path / "whole")


def test_streaming_jobs_do_not_end_in_savepoints(tmp_path: Path) -> None:
    write_part(tmp_path, "f", 0)
    with pytest.raises(ConfigError, match="only a BATCH job ends in a savepoint, and this one is STREAMING"):
        insert(True, QUERIES["groups"], tmp_path, tmp_path / "out", **{"scurry.final-savepoint.dir": str(tmp_path)})


def test_history_has_an_end(tmp_path: Path) -> None:
    env = environment(False, **{"scurry.final-savepoint.dir": str(tmp_path)})
    files(env, "t", "v INT", tmp_path, **{"source.monitor-interval": "1 s"})
    files(env, "written", "v INT", tmp_path / "out")
    with pytest.raises(ValidationError, match="a job that ends in a savepoint reads history"):
        env.execute_sql("INSERT INTO written SELECT v FROM t")


def test_pipelines_of_tables_do_not_end_in_savepoints(tmp_path: Path) -> None:
    env = environment(False, **{"scurry.final-savepoint.dir": str(tmp_path)})
    files(env, "written", "v BIGINT", tmp_path / "out")
    with pytest.raises(ConfigError, match="only INSERT and EXECUTE STATEMENT SET"):
        env.from_elements([(1,)], ["v"]).execute_insert("written")
