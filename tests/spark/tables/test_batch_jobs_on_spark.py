"""BATCH jobs on Spark: stopped while their tasks run, retried by Spark, and measured."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, JobStatus
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import JobCancelledError
from scurry.spark.session.adaptive_execution import adaptive_session_for
from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment
from scurry.table.udf import ScalarFunction, udf

pytestmark = pytest.mark.spark

#: Longer than any step takes on a slow machine, a start of Spark included.
DEADLINE = 300.0


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


class Slow(ScalarFunction):
    """Marks its first call, and never gets far."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def eval(self, x: int) -> int:
        self.mark.touch()
        time.sleep(1)
        return x


class Counted(ScalarFunction):
    def open(self, function_context: Any) -> None:
        self.calls = function_context.get_metric_group().counter("calls")

    def eval(self, x: int) -> int:
        self.calls.inc()
        return x


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    settings = EnvironmentSettings.new_instance().in_batch_mode()
    env = TableEnvironment.create(
        settings.with_configuration(Configuration.from_dict({"parallelism.default": "2"})).build()
    )
    env.execute_sql("CREATE TABLE numbers (x INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1000')")
    env.execute_sql(
        f"CREATE TABLE files (x INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'csv')"
    )
    return env


def test_a_cancelled_insertion_ends_while_its_tasks_run_and_commits_nothing(
    env: TableEnvironment, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    env.create_temporary_function("slow", udf(Slow(mark), result_type=DataTypes.INT()))
    job: Any = env.execute_sql("INSERT INTO files SELECT slow(x) FROM numbers").get_job_client()
    wait_until(mark.exists)
    wait_until(lambda: job.execution.tasks)
    asked = time.monotonic()
    job.cancel().result()
    assert time.monotonic() - asked < DEADLINE  # the tasks would take a quarter of an hour
    assert job.get_job_status().result() == JobStatus.CANCELED
    assert [file for file in (tmp_path / "out").rglob("*") if not file.name.startswith(".")] == []
    with pytest.raises(JobCancelledError):
        job.get_job_execution_result().result()


class KillsItsProcess(ScalarFunction):
    """Kills the first process that gets a row in the middle."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def eval(self, x: int) -> int:
        if x == 500 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return x


def test_an_insertion_writes_each_row_once_if_a_task_of_it_is_killed(env: TableEnvironment, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    env.get_config().set("restart-strategy.type", "fixed-delay")
    env.get_config().set("restart-strategy.fixed-delay.delay", "0 ms")
    env.create_temporary_function("kills", udf(KillsItsProcess(mark), result_type=DataTypes.INT()))
    (tmp_path / "in").write_text("".join(f"{number}\n" for number in range(1000)))
    env.execute_sql(
        f"CREATE TABLE a (x INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = 'csv')"
    )
    result = env.execute_sql("INSERT INTO files SELECT kills(x) FROM a")
    result.wait()
    assert mark.exists()
    written = [file for file in (tmp_path / "out").rglob("*") if file.is_file() and not file.name.startswith(".")]
    rows = sorted(int(line) for file in written for line in file.read_text().splitlines())
    assert rows == list(range(1000))
    job: Any = result.get_job_client()
    assert job.get_metrics().result()["Sink[default_catalog.default_database.files].numRecordsIn"] == 1000


@pytest.mark.parametrize(("kind", "text"), [("json", '{"x": 1}\nno object\n{"x": 2}\n'), ("csv", '1\n"2" 3\n4\n')])
def test_lines_that_are_left_out_are_counted_as_in_streaming(
    env: TableEnvironment, kind: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text(text)
    env.execute_sql(
        f"CREATE TABLE lines (x INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = '{kind}', "
        f"'{kind}.ignore-parse-errors' = 'true')"
    )
    result = env.execute_sql("INSERT INTO files SELECT x FROM lines")
    result.wait()
    job: Any = result.get_job_client()
    assert job.execution.totals.malformed == {"TableSourceScan[default_catalog.default_database.lines]": 1}


def test_rows_and_metrics_of_functions_are_counted(env: TableEnvironment) -> None:
    env.create_temporary_function("counted", udf(Counted(), result_type=DataTypes.INT()))
    result = env.execute_sql("INSERT INTO files SELECT counted(x) FROM numbers")
    result.wait()
    job: Any = result.get_job_client()
    assert job.get_accumulators().result() == {"calls": 1000}
    metrics = job.get_metrics().result()
    assert metrics["TableSourceScan[default_catalog.default_database.numbers].numRecordsOut"] == 1000
    assert metrics["Calc.numRecordsOut"] == 1000
    assert metrics["Sink[default_catalog.default_database.files].numRecordsIn"] == 1000


def test_a_batch_job_of_streams_is_cancelled_while_its_tasks_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    settings = {"execution.runtime-mode": "BATCH", "parallelism.default": "2"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))

    def slowly(x: int) -> int:
        mark.touch()
        time.sleep(1)
        return x

    env.from_collection(list(range(1000))).map(slowly).print()
    job = env.execute_async()
    wait_until(mark.exists)
    asked = time.monotonic()
    job.cancel().result()
    assert time.monotonic() - asked < DEADLINE
    assert job.get_job_status().result() == JobStatus.CANCELED


def test_a_job_has_one_session_of_spark(env: TableEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def counted(*given: Any) -> Any:
        made.append(adaptive_session_for(*given))
        return made[-1]

    monkeypatch.setattr("scurry.spark.tables.execution.adaptive_session_for", counted)
    assert len(list(env.execute_sql("SELECT x FROM numbers").collect())) == 1000
    assert len(made) == 1
