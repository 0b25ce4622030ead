"""An INSERT in BATCH over history ends in a savepoint; the same one in STREAMING goes on from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ConfigError, JobError, ValidationError
from support.statements.operator_queries import QUERIES, SETTINGS
from support.statements.stopped_jobs import insert, rows_left, tables, write_names, write_stage
from support.statements.tables import environment, files


@pytest.mark.parametrize("name", QUERIES)
def test_what_goes_on_has_the_same_final_table_as_streaming_from_the_start(name: str, tmp_path: Path) -> None:
    query, settings = {name: QUERIES[name]}, SETTINGS.get(name, {})
    live, left = tmp_path / "live", list[dict[str, Any]]()
    for place in (tmp_path, live):
        place.mkdir(exist_ok=True)
        write_names(place)
    write_stage(tmp_path, 0, left)
    ending = {"scurry.final-savepoint.dir": str(tmp_path / "savepoints"), "parallelism.default": "1", **settings}
    batch = tables(tmp_path, False, ending, streaming=False)
    history = insert(batch, query, tmp_path / "out", types_in=tables(tmp_path, False, settings))
    savepoint = history.get_job_execution_result().result().get_savepoint_path()
    write_stage(live, 1, list(left))
    starting = {"execution.state-recovery.path": savepoint, "parallelism.default": "3", **settings}
    insert(tables(live, False, starting), query, tmp_path / "out").get_job_execution_result().result()
    write_stage(tmp_path, 1, left)
    whole = insert(tables(tmp_path, False, {"parallelism.default": "1", **settings}), query, tmp_path / "whole")
    whole.get_job_execution_result().result()
    assert rows_left(tmp_path / "out" / name) == rows_left(tmp_path / "whole" / name)
    assert rows_left(tmp_path / "whole" / name)


#: Each has state that the other has no operator for.
OTHERS = list(zip(list(QUERIES)[::6], list(QUERIES)[3::6], strict=False))


@pytest.mark.parametrize(("name", "other"), OTHERS)
def test_another_query_is_refused_the_state(name: str, other: str, tmp_path: Path) -> None:
    write_names(tmp_path)
    write_stage(tmp_path, 0, [])
    ending = {"scurry.final-savepoint.dir": str(tmp_path / "savepoints"), **SETTINGS.get(name, {})}
    batch = tables(tmp_path, False, ending, streaming=False)
    history = insert(batch, {name: QUERIES[name]}, tmp_path / "out", types_in=tables(tmp_path, False, {}))
    savepoint = history.get_job_execution_result().result().get_savepoint_path()
    env = tables(tmp_path, False, {"execution.state-recovery.path": savepoint, **SETTINGS.get(other, {})})
    with pytest.raises(JobError, match="holds state of operator '|cannot be taken over"):
        insert(env, {other: QUERIES[other]}, tmp_path / "other").get_job_execution_result().result()


def test_streaming_jobs_do_not_end_in_savepoints(tmp_path: Path) -> None:
    write_stage(tmp_path, 0, [])
    env = tables(tmp_path, False, {"scurry.final-savepoint.dir": str(tmp_path)})
    with pytest.raises(ConfigError, match="only a BATCH job ends in a savepoint, and this one is STREAMING"):
        insert(env, {"groups": QUERIES["groups"]}, tmp_path / "out").get_job_execution_result().result()


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
