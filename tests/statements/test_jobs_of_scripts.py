"""Jobs of SQL scripts: their names, their progress, and the exit status of a script whose job was cancelled."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from scurry.cli.program import run_program
from scurry.launch import LaunchOptions
from scurry.statements.jobs import StreamingTableJob
from scurry.statements.streaming_runner import StreamingTableRunner
from support.statements.tables import environment

TABLES = """
CREATE TABLE a (x INT) WITH ('connector' = 'blackhole');
CREATE TABLE b (x INT) WITH ('connector' = 'blackhole');
"""


def run(directory: Path, statements: str) -> int:
    script = directory / "script.sql"
    script.write_text(statements)
    return run_program(
        script, [], LaunchOptions(runner="local", configuration={"scurry.progress": "plain"}), debug=False
    )


@pytest.mark.parametrize(
    ("setting", "statement", "name"),
    [
        ("", "INSERT INTO a VALUES (1)", "insert-into_default_catalog.default_database.a"),
        (
            "",
            "EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES (1); INSERT INTO b VALUES (2); END",
            "insert-into_default_catalog.default_database.a,default_catalog.default_database.b",
        ),
        ("totals", "INSERT INTO a VALUES (1)", "totals"),
    ],
)
def test_a_job_has_the_name_that_flink_gives_it(setting: str, statement: str, name: str) -> None:
    env = environment()
    for table in filter(str.strip, TABLES.split(";")):
        env.execute_sql(table)
    if setting:
        env.get_config().set("pipeline.name", setting)
    result = env.execute_sql(statement)
    result.wait()
    job = result.get_job_client()
    assert isinstance(job, StreamingTableJob)
    assert job.execution.plan.settings.job_name == name


def test_the_summary_counts_late_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text("1,2024-01-01 00:00:01\n2,2024-01-01 00:05:00\n3,2024-01-01 00:00:30\n")
    status = run(
        tmp_path,
        f"""
        CREATE TABLE events (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in.csv', 'format' = 'csv');
        CREATE TABLE sums (s INT) WITH ('connector' = 'blackhole');
        INSERT INTO sums SELECT SUM(v) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end;
        """,
    )
    assert status == 0
    summary = capsys.readouterr().err
    assert "insert-into_default_catalog.default_database.sums: finished after" in summary
    assert "3 records in" in summary and "; 1 late record dropped by " in summary


def test_a_script_whose_job_is_cancelled_from_outside_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = StreamingTableRunner.start

    def started_and_cancelled(*arguments: Any) -> Any:
        job = start(*arguments)
        threading.Thread(target=job.cancel).start()
        return job

    monkeypatch.setattr(StreamingTableRunner, "start", started_and_cancelled)
    status = run(
        tmp_path, TABLES + "CREATE TABLE s (x INT) WITH ('connector' = 'datagen');\nINSERT INTO a SELECT x FROM s;\n"
    )
    assert status == 1
    said = capsys.readouterr().err
    assert "script.sql:5:1: Job 'insert-into_default_catalog.default_database.a' was cancelled" in said
