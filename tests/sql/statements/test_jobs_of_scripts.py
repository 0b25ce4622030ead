"""Jobs of SQL scripts: their names, their progress, and the exit status of a script whose job was cancelled."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from scurry.cli.program import run_program
from scurry.common import JobStatus
from scurry.common._process.launch import LaunchOptions
from scurry.errors import JobCancelledError
from scurry.runtime.submit import submit
from scurry.sql.statements.jobs import StatementJob
from support.statements.tables import environment

TABLES = """
CREATE TABLE a (x INT) WITH ('connector' = 'blackhole');
CREATE TABLE b (x INT) WITH ('connector' = 'blackhole');
"""


def run(directory: Path, statements: str, runner: str = "local", **settings: str) -> int:
    script = directory / "script.sql"
    script.write_text(statements)
    configuration = {"scurry.progress": "plain", **settings}
    return run_program(script, [], LaunchOptions(runner=runner, configuration=configuration), debug=False)


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
    assert isinstance(job, StatementJob)
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
    def started_and_cancelled(*arguments: Any) -> Any:
        job = submit(*arguments)
        threading.Thread(target=job.cancel).start()
        return job

    monkeypatch.setattr("scurry.runtime.submit.submit", started_and_cancelled)
    status = run(
        tmp_path, TABLES + "CREATE TABLE s (x INT) WITH ('connector' = 'datagen');\nINSERT INTO a SELECT x FROM s;\n"
    )
    assert status == 1
    said = capsys.readouterr().err
    assert "script.sql:5:1: Job 'insert-into_default_catalog.default_database.a' was cancelled" in said


def test_the_second_job_of_a_script_is_told_to_take_a_checkpoint_directory_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = f"SET 'execution.checkpointing.dir' = '{tmp_path}/ck'", "INSERT INTO b VALUES (1), (2)"
    script = f"{TABLES} {first};\nINSERT INTO a VALUES (1);\n"
    assert run(tmp_path, script + second) == 1
    cure = f"SET 'execution.checkpointing.dir' = '{tmp_path}/ck-2'"
    assert cure in capsys.readouterr().err
    assert run(tmp_path, f"{script}{cure};\n{second}") == 0


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_the_jobs_of_both_modes_say_the_same(mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text("1\n2\n3\n")
    status = run(
        tmp_path,
        f"""
        CREATE TABLE numbers (x INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in.csv', 'format' = 'csv');
        {TABLES}
        INSERT INTO a SELECT x FROM numbers WHERE x > 1;
        SELECT x FROM numbers WHERE x > 2;
        """,
        **{"execution.runtime-mode": mode, "scurry.log.file": f"{tmp_path}/log", "state.backend.type": "rocksdb"},
    )
    assert status == 0
    out, err = capsys.readouterr()
    summaries = [line for line in err.splitlines() if "finished after" in line]
    inserted, selected = summaries
    assert inserted.startswith("insert-into_default_catalog.default_database.a: finished after ")
    assert inserted.endswith(" s, 1 batch: 3 records in, 2 out")
    assert selected.startswith("collect: finished after ") and selected.endswith(" s, 1 batch: 3 records in, 1 out")
    assert err.count("configuration without effect: state.backend.type") == 2
    log = (tmp_path / "log").read_text()
    assert [log.count(text) for text in (f"started: {mode} in this process", ": finished after ")] == [2, 2]


def test_rows_that_a_sink_drops_are_not_counted_as_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(
        tmp_path,
        """
        CREATE TABLE wanted (x INT NOT NULL) WITH ('connector' = 'blackhole');
        INSERT INTO wanted VALUES (1), (CAST(NULL AS INT));
        """,
        **{"execution.runtime-mode": "BATCH", "table.exec.sink.not-null-enforcer": "DROP"},
    )
    assert status == 0
    assert "2 records in, 1 out" in capsys.readouterr().err


def test_an_insertion_in_batch_that_is_cancelled_writes_nothing_and_fails(tmp_path: Path) -> None:
    env = environment(False)
    env.execute_sql("CREATE TABLE n (x INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1000000')")
    env.execute_sql(
        f"CREATE TABLE f (x INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'csv')"
    )
    result = env.execute_sql("INSERT INTO f SELECT x FROM n")
    job = result.get_job_client()
    assert job is not None
    job.cancel().result()
    with pytest.raises(JobCancelledError, match=r"^Job '.*f' was cancelled by the program\.$"):
        result.wait()
    with pytest.raises(JobCancelledError):
        job.get_job_execution_result().result()
    assert job.get_job_status().result() is JobStatus.CANCELED
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file() and not path.name.startswith(".")]


@pytest.mark.spark
def test_jobs_in_batch_on_spark_count_their_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(
        tmp_path,
        f"""
        CREATE TABLE numbers (x INT) WITH ('connector' = 'datagen', 'number-of-rows' = '100');
        CREATE TABLE a (x INT) WITH ('connector' = 'blackhole');
        CREATE TABLE b (x INT) WITH ('connector' = 'spark', 'path' = '{tmp_path}/b', 'format' = 'json');
        INSERT INTO a SELECT x FROM numbers;
        INSERT INTO b SELECT x FROM numbers;
        SELECT COUNT(*) AS c FROM numbers;
        """,
        "spark",
        **{"execution.runtime-mode": "BATCH"},
    )
    assert status == 0
    summaries = [line for line in capsys.readouterr().err.splitlines() if "finished after" in line]
    assert [line.partition("1 batch: ")[2] for line in summaries] == [
        "100 records in, 100 out",
        "100 records in, 100 out",
        "100 records in, 1 out",
    ]
