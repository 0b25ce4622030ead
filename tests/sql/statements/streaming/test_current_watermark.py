"""CURRENT_WATERMARK: the watermark that an operator has reached, NULL before the first one."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.errors import JobError, ValidationError
from scurry.table import TableEnvironment
from support.statements.tables import environment, files, rows, write

#: Every second row is a minute late.
SECONDS = [100, 40, 110, 50, 120, 60]


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    write(tmp_path / "t", "rows", *({"n": n, "ms": second * 1000} for n, second in enumerate(SECONDS)))
    return timed(environment(), tmp_path)


def timed(env: TableEnvironment, directory: Path) -> TableEnvironment:
    columns = "n INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    files(env, "t", columns, directory / "t")
    return env


def test_late_rows_are_those_behind_it(env: TableEnvironment) -> None:
    late = rows(env, "SELECT n FROM t WHERE CURRENT_WATERMARK(ts) IS NOT NULL AND ts <= CURRENT_WATERMARK(ts)")
    assert late == [(1,), (3,), (5,)]


def test_it_is_null_before_the_first_watermark(env: TableEnvironment) -> None:
    assert rows(env, "SELECT n FROM t WHERE CURRENT_WATERMARK(ts) IS NULL") == [(0,)]


def test_it_is_an_instant_that_never_falls(env: TableEnvironment) -> None:
    found = rows(env, "SELECT n, UNIX_TIMESTAMP(CAST(CURRENT_WATERMARK(ts) AS STRING)) FROM t")
    assert found == [(0, None), (1, 95), (2, 95), (3, 105), (4, 105), (5, 115)]


def test_batch_refuses_it_because_a_table_has_no_event_time_there(tmp_path: Path) -> None:
    write(tmp_path / "t", "rows", {"n": 1, "ms": 5})
    with pytest.raises(ValidationError, match="must be a rowtime attribute, but was 'TIMESTAMP_LTZ\\(3\\)'"):
        rows(timed(environment(False), tmp_path), "SELECT CURRENT_WATERMARK(ts) FROM t")


def test_a_join_condition_cannot_read_it(env: TableEnvironment) -> None:
    with pytest.raises(JobError, match="only SELECT lists and WHERE clauses know CURRENT_WATERMARK"):
        rows(env, "SELECT a.n FROM t a JOIN t b ON a.n = b.n AND CURRENT_WATERMARK(a.ts) > b.ts")
