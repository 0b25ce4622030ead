"""Operators of STREAMING on Spark go on from savepoints at other parallelisms, with the same final tables."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from scurry.common import JobStatus
from support.statements.operator_queries import OF_TWO_TABLES, QUERIES, SETTINGS
from support.statements.stopped_jobs import has_read, insert, rows_left, tables, write_names, write_stage

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

#: A reader without a file would hold back event time until the input ends.
IDLE = {"table.exec.source.idle-timeout": "50 ms"}
#: Queries of one table, in jobs of a dozen.
OF_ONE_TABLE = [name for name in QUERIES if name not in (*OF_TWO_TABLES, *SETTINGS)]
BUNDLED = ["groups", "groups in bundles", "grouping sets", "distinct", "union", "top of counts", "outer join"]
JOBS: dict[str, tuple[list[str], dict[str, str]]] = {
    **{f"one table, {start}": (OF_ONE_TABLE[start : start + 12], IDLE) for start in range(0, len(OF_ONE_TABLE), 12)},
    "two tables": (list(OF_TWO_TABLES), {}),
    "changes by key": (["changes by key"], IDLE),
    "time to live": (["last row with a time to live", "top with a time to live"], IDLE),
    "bundles": (BUNDLED, IDLE),
}


@pytest.mark.parametrize("job", JOBS)
def test_jobs_go_on_at_other_parallelisms_with_the_same_final_tables(job: str, spark: Any, tmp_path: Path) -> None:
    names, idle = JOBS[job]
    settings = {key: value for name in names for key, value in SETTINGS.get(name, {}).items()}
    queries = {name: QUERIES[name] for name in names}
    write_names(tmp_path)
    savepoint, left = None, list[dict[str, Any]]()
    for stage, parallelism in enumerate((2, 4, 1)):
        changes = write_stage(tmp_path, stage, left)
        start = {"scurry.runner": "spark", "parallelism.default": str(parallelism), **settings, **idle}
        if savepoint is not None:
            start["execution.state-recovery.path"] = savepoint
        running = insert(tables(tmp_path, True, start), queries, tmp_path / "out")
        while not has_read(running, changes):
            assert running.get_job_status().result() is not JobStatus.FAILED
            time.sleep(0.1)
        savepoint = running.stop_with_savepoint(stage == 2, str(tmp_path / "savepoints")).result()
    whole = insert(tables(tmp_path, False, {"parallelism.default": "1", **settings}), queries, tmp_path / "whole")
    whole.get_job_execution_result().result()
    for name in names:
        assert rows_left(tmp_path / "whole" / name), name
        assert rows_left(tmp_path / "out" / name) == rows_left(tmp_path / "whole" / name), name
