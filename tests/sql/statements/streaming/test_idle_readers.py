"""Readers that have been silent for a while do not hold back event time; those that wait to be read are not silent."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scurry.sql.statements.planning import planned
from scurry.sql.statements.streaming_runner import read_tables
from support.statements.tables import environment, files, read, until, write

AHEAD, BEHIND = range(100, 200), range(20, 30)


def counts(directory: Path, **settings: str) -> Any:
    """Start a job that counts the rows of each window of ten seconds."""
    env = environment(**{"table.exec.source.idle-timeout": "50 ms", **settings})
    columns = "n INT, ts AS TO_TIMESTAMP_LTZ(CAST(n AS BIGINT), 0), WATERMARK FOR ts AS ts"
    files(env, "t", columns, directory / "t", **{"source.monitor-interval": "10 ms"})
    files(env, "counts", "first_n INT, `rows` BIGINT", directory / "out")
    query = (
        "INSERT INTO counts SELECT MIN(n), COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    )
    return env.execute_sql(query).get_job_client()


def has_read(job: Any, rows: int) -> bool:
    return bool(job._job.execution.totals.records_in == rows)


@pytest.mark.parametrize("ahead", ["a", "b"])
def test_a_job_that_was_stopped_for_long_waits_for_all_readers(ahead: str, tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / "t", f"{name}1", *({"n": n} for n in range(10)))
    job = counts(tmp_path)
    until(partial(has_read, job, 20))
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    time.sleep(0.1)
    for name in "ab":
        write(tmp_path / "t", f"{name}2", *({"n": n} for n in (AHEAD if name == ahead else BEHIND)))
    job = counts(tmp_path, **{"execution.state-recovery.path": savepoint})
    until(partial(has_read, job, len(AHEAD) + len(BEHIND)))
    job.stop_with_savepoint(True, str(tmp_path / "savepoints")).result()
    assert {"first_n": 20, "rows": 10} in read(tmp_path / "out")
    assert job._job.execution.totals.late_records == 0


def test_a_hint_has_options_of_watermarks_for_one_query(tmp_path: Path) -> None:
    env = environment(**{"table.exec.source.idle-timeout": "50 ms"})
    files(env, "t", "n BIGINT, ts AS TO_TIMESTAMP_LTZ(n, 0), WATERMARK FOR ts AS ts", tmp_path)
    hint = "/*+ OPTIONS('scan.watermark.idle-timeout' = '7 s') */"
    tables = [env.sql_query(f"SELECT n, ts FROM t {each}") for each in ("", hint)]
    found = [read_tables(planned(env._session, [table._plan])) for table in tables]
    assert [[table.idle_timeout_ms for table in each.values()] for each in found] == [[50], [7000]]
