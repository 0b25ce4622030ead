"""Scripts of statements: `scurry run script.sql`."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from support import TESTS

LOCAL = LaunchOptions(runner="local", mode="batch")


def run(directory: Path, text: str, options: LaunchOptions = LOCAL) -> int:
    script = directory / "script.sql"
    script.write_text(text, encoding="utf-8")
    return run_program(script, [], options, debug=False)


def table(directory: Path) -> str:
    return f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'csv');\n"


def printed_rows(text: str) -> list[str]:
    return [line.strip("| ") for line in text.splitlines() if line.startswith("|")]


def test_statements_run_in_order_and_insertions_are_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, table(tmp_path) + "INSERT INTO t VALUES (1), (2);\nSELECT SUM(a) AS s FROM t;") == 0
    assert printed_rows(capsys.readouterr().out) == ["s", "3"]


def test_insertions_of_a_statement_set_run_at_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inserts = "BEGIN STATEMENT SET;\nINSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2);\nEND;\n"
    assert run(tmp_path, table(tmp_path) + inserts + "SELECT COUNT(*) AS n FROM t;") == 0
    assert printed_rows(capsys.readouterr().out) == ["n", "2"]


def test_set_changes_the_mode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "SET 'execution.runtime-mode' = 'streaming';\nSELECT 1 AS a;\nRESET 'execution.runtime-mode';\nSELECT 1 AS a;"
    )
    assert run(tmp_path, text) == 0
    assert printed_rows(capsys.readouterr().out) == ["op |           a", "+I |           1", "a", "1"]


def test_set_alone_lists_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "SET 'table.key' = 'x';\nSET;") == 0
    assert "|              table.key |     x |" in capsys.readouterr().out


def test_a_failing_statement_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "SHOW TABLES;\n\nSELECT nope\nFROM (VALUES (1)) AS t(a);") == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {tmp_path}/script.sql:3:8: SQL validation failed. From line 3, column 8")


def test_nothing_runs_if_a_statement_cannot_be_parsed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "SELECT 1;\nSELECT 2 FROM;\n") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {tmp_path}/script.sql:2:10: SQL parse failed.")


def test_a_statement_set_has_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "BEGIN STATEMENT SET;\n") == 1
    assert "BEGIN STATEMENT SET without END" in capsys.readouterr().err


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(TESTS.parent / "examples" / "web_shop.sql", [], LOCAL, debug=False) == 0
    assert printed_rows(capsys.readouterr().out)[1].split(" | ")[-1].strip() == "4.20"
