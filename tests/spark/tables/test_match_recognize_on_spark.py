"""MATCH_RECOGNIZE on Spark finds what it finds in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scurry.pyflink_alias  # noqa: F401
from support.match_programs import OF_STREAMING, PROGRAMS, check, check_rows, run
from support.statements.tables import environment, files, rows, write

pytestmark = pytest.mark.spark

QUERY = """
    SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY k ORDER BY ts
      MEASURES FIRST(A.v) AS a, SUM(A.v) AS s, B.v AS b
      AFTER MATCH SKIP PAST LAST ROW
      PATTERN (A+ B) WITHIN INTERVAL '1' MINUTE
      DEFINE A AS LAST(A.v, 1) IS NULL OR A.v >= LAST(A.v, 1), B AS B.v < A.v)
"""
COLUMNS = "k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


@pytest.mark.parametrize("streaming", [True, False])
def test_matches_on_spark_are_those_of_this_process(spark: Any, streaming: bool, tmp_path: Path) -> None:
    written = [
        {"k": "abc"[at % 3], "v": at * 7 % 11, "ts": f"2024-01-01 00:00:{at:02d}"} for at in (*range(40), 59, 58, 57)
    ]
    write(tmp_path / "in", "f1", *written[:20])
    write(tmp_path / "in", "f2", *written[20:])
    found = []
    for runner in ("spark", "local"):
        env = environment(streaming, **{"scurry.runner": runner})
        files(env, "t", COLUMNS, tmp_path / "in")
        found.append(rows(env, QUERY))
    assert found[0] == found[1]
    assert len(found[0]) > 3


@pytest.mark.nightly
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_program_prints_on_spark_what_flink_prints(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(program, "spark", "2", monkeypatch)
    check(program, capsys.readouterr().out)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "program", [each for each in PROGRAMS if each.stem not in OF_STREAMING], ids=lambda each: each.stem
)
def test_program_prints_in_batch_on_spark_the_rows_of_flink(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(program, "spark", "2", monkeypatch, batch=True)
    check_rows(program, capsys.readouterr().out)
