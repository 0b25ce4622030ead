"""Programs with MATCH_RECOGNIZE print what they do with real Flink. Skipped where the recordings are not at hand.

Here they run in this process; nightly, `tests/spark/tables/test_match_recognize_on_spark.py` runs them on Spark.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import scurry.pyflink_alias  # noqa: F401
from support.match_programs import OF_STREAMING, PROGRAMS, check, check_rows, run


@pytest.mark.skipif(not PROGRAMS, reason="the recordings are not at hand")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
@pytest.mark.parametrize("parallelism", ["1", "2"])
def test_program_prints_what_flink_prints(
    program: Path, parallelism: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(program, "local", parallelism, monkeypatch)
    check(program, capsys.readouterr().out)


@pytest.mark.parametrize(
    "program", [each for each in PROGRAMS if each.stem not in OF_STREAMING], ids=lambda each: each.stem
)
def test_program_has_the_same_rows_in_batch(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(program, "local", "2", monkeypatch, batch=True)
    check_rows(program, capsys.readouterr().out)
