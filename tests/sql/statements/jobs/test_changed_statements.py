"""Savepoints of statements: the same one goes on, a changed one is refused, and the state can be read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError
from scurry.state import SavepointReader
from support.statements.tables import environment, files, read, until, write

GROUPED = "SELECT k, SUM(v) FROM t WHERE v > 0 GROUP BY k"


def start(directory: Path, query: str, columns: str = "k STRING, v INT", **settings: str) -> Any:
    env = environment(**settings)
    files(env, "t", columns, directory / "in", **{"source.monitor-interval": "20 ms"})
    files(env, "written", "k STRING, n BIGINT", directory / "out", format="debezium-json")
    return env.execute_sql(f"INSERT INTO written {query}").get_job_client()


@pytest.fixture
def savepoint(tmp_path: Path) -> str:
    write(tmp_path / "in", "f1", {"k": "a", "v": 1}, {"k": "b", "v": 2})
    job = start(tmp_path, GROUPED)
    until(lambda: len(read(tmp_path / "out")) == 2)
    return str(job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result())


def test_the_same_operators_go_on_whatever_the_text_and_what_is_done_row_by_row(savepoint: str, tmp_path: Path) -> None:
    write(tmp_path / "in", "f2", {"k": "a", "v": 5}, {"k": "b", "v": 1})
    same = "select k, sum(v) as s\nfrom t where v > 1 group by k"
    job = start(tmp_path, same, **{"execution.state-recovery.path": savepoint})
    try:
        until(lambda: len(read(tmp_path / "out")) == 4)
        assert {"k": "a", "n": 6} in [each["after"] for each in read(tmp_path / "out")]
    finally:
        job.cancel().result()


@pytest.mark.parametrize(
    ("query", "columns", "message"),
    [
        ("SELECT k, MAX(v) FROM t WHERE v > 0 GROUP BY k", "k STRING, v INT", "the statement, or a table of it, has"),
        ("SELECT CAST(v AS STRING), COUNT(*) FROM t WHERE v > 0 GROUP BY v", "k STRING, v INT", "the statement, or a"),
        (GROUPED, "k STRING, v BIGINT", "the statement, or a table of it, has changed"),
        ("SELECT k, v FROM t", "k STRING, v INT", "GroupAggregate.*which the program has not"),
        ("SELECT k, n FROM (SELECT k, v AS n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS r FROM t WHERE v > 0) "
         "WHERE r = 1", "k STRING, v INT", "GroupAggregate.*which the program has not"),
    ],
)  # fmt: skip
def test_a_changed_statement_is_refused_with_the_reason(
    query: str, columns: str, message: str, savepoint: str, tmp_path: Path
) -> None:
    job = start(tmp_path, query, columns, **{"execution.state-recovery.path": savepoint})
    with pytest.raises(ScurryError, match=re.compile(message, re.DOTALL)):
        job.get_job_execution_result().result()


def test_the_state_of_operators_of_tables_can_be_read(savepoint: str) -> None:
    reader = SavepointReader.read(savepoint)
    (uid,) = (uid for uid, each in reader.metadata.operators.items() if each.name == "GroupAggregate")
    assert reader.metadata.operators[uid].states["(rows)"]["layout"] == (
        "GroupAggregate(groupBy=[k], select=[k, SUM(v)]) over (STRING, INT), in columns of keys"
    )
    assert dict(reader.keyed_state(uid)) == {"a": {"row": [("a", 1, 1)]}, "b": {"row": [("b", 2, 1)]}}


def test_state_by_key_of_groups_is_taken_over_in_columns(tmp_path: Path) -> None:
    ttl = {"table.exec.state.ttl": "1 h"}
    write(tmp_path / "in", "f1", {"k": "a", "v": 1}, {"k": "b", "v": 2})
    job = start(tmp_path, GROUPED, **ttl)
    until(lambda: len(read(tmp_path / "out")) == 2)
    savepoint = str(job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result())
    assert all("group" in states for states in states_of(savepoint, "GroupAggregate")[0].values())
    write(tmp_path / "in", "f2", {"k": "a", "v": 5}, {"k": "c", "v": 1})
    job = start(tmp_path, GROUPED, **{"execution.state-recovery.path": savepoint, "parallelism.default": "3"})
    until(lambda: len(read(tmp_path / "out")) == 5)
    assert {"k": "a", "n": 6} in [each["after"] for each in read(tmp_path / "out")]
    after = str(job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result())
    assert {key: states for key, states in states_of(after, "GroupAggregate")[0].items() if "row" in states} == {
        key: {"row": [(key, total, count)]} for key, total, count in (("a", 6, 2), ("c", 1, 1))
    }
    job = start(tmp_path, GROUPED, **ttl, **{"execution.state-recovery.path": after})
    with pytest.raises(ScurryError, match="state in columns has become state by key"):
        job.get_job_execution_result().result()


def test_rows_in_columns_are_not_taken_by_a_join_that_gets_a_time_to_live(tmp_path: Path) -> None:
    write(tmp_path / "in", "f1", {"k": "a", "v": 1}, {"k": "b", "v": 2})
    joined = "SELECT l.k, r.v FROM t AS l JOIN t AS r ON l.k = r.k"
    running = start(tmp_path, joined)
    until(lambda: len(read(tmp_path / "out")) == 2)
    savepoint = str(running.stop_with_savepoint(False, str(tmp_path / "savepoints")).result())
    (state,) = (each for each in states_of(savepoint, "Join") if each)
    assert {key: sorted(rows) for key, rows in state.items()} == {
        key: ["join-left", "join-right"] for key in ("a", "b")
    }
    job = start(tmp_path, joined, **{"execution.state-recovery.path": savepoint, "table.exec.state.ttl": "1 h"})
    with pytest.raises(ScurryError, match="the statement, or a table of it, has changed"):
        job.get_job_execution_result().result()


def states_of(savepoint: str, operator: str) -> list[dict[Any, Any]]:
    reader = SavepointReader.read(savepoint)
    uids = [uid for uid, each in reader.metadata.operators.items() if each.name == operator]
    return [dict(reader.keyed_state(uid)) for uid in uids]
