"""Whatever starts a job fails if the job was cancelled from outside, in whatever mode, as in Flink."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scurry
from scurry.common import Configuration
from scurry.common.job_client import REQUESTER
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.errors import JobCancelledError
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.driver.steps import Steps
from support.statements.tables import environment

SOURCE = str(Path(scurry.__file__).parent.parent)


def numbers(mode: str) -> Any:
    settings = {"scurry.runner": "local", "execution.runtime-mode": mode, "scurry.batch.max-records": "10"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    return env, env.from_source(NumberSequenceSource(1, 100), None, "numbers")


def execute(mode: str) -> None:
    env, stream = numbers(mode)
    stream.filter(lambda _: False).print()
    env.execute()


def execute_async(mode: str) -> None:
    env, stream = numbers(mode)
    stream.filter(lambda _: False).print()
    env.execute_async().get_job_execution_result().result()


def execute_and_collect(mode: str) -> None:
    _, stream = numbers(mode)
    list(stream.execute_and_collect())


def tables(mode: str) -> Any:
    env = environment(mode == "STREAMING", **{"scurry.batch.max-records": "10"})
    env.execute_sql("CREATE TABLE n (x INT) WITH ('connector' = 'datagen', 'number-of-rows' = '100')")
    env.execute_sql("CREATE TABLE s (x INT) WITH ('connector' = 'blackhole')")
    return env


def insert(mode: str) -> None:
    tables(mode).execute_sql("INSERT INTO s SELECT x FROM n").wait()


def statement_set(mode: str) -> None:
    statements = tables(mode).create_statement_set()
    statements.add_insert_sql("INSERT INTO s SELECT x FROM n")
    statements.execute().wait()


def query(mode: str) -> None:
    with tables(mode).execute_sql("SELECT x FROM n").collect() as rows:
        list(rows)


STREAMS = (execute, execute_async, execute_and_collect)
TABLES = (insert, statement_set, query)
WAYS = [(way, mode) for way in STREAMS + TABLES for mode in ("STREAMING", "BATCH")]


@pytest.fixture
def cancelled_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancel every job before it begins, as a client of the job's endpoint does."""
    steps = RunningJob._steps

    def cancelled(job: RunningJob, runner: Any) -> Steps[None]:
        asked_before = REQUESTER.set("a REST client")
        job.cancel()
        REQUESTER.reset(asked_before)
        yield from steps(job, runner)

    monkeypatch.setattr(RunningJob, "_steps", cancelled)


@pytest.mark.usefixtures("cancelled_from_outside")
@pytest.mark.parametrize(("way", "mode"), WAYS)
def test_who_waits_for_a_job_that_is_cancelled_gets_an_error(way: Callable[[str], None], mode: str) -> None:
    with pytest.raises(JobCancelledError, match=r"^Job '.+' was cancelled by a REST client\.$"):
        way(mode)


PROGRAM = """
    from scurry.common import Configuration, Types, WatermarkStrategy
    from scurry.datastream import StreamExecutionEnvironment
    from scurry.datastream.connectors.datagen import DataGeneratorSource

    settings = Configuration.from_dict({"scurry.runner": "local", "scurry.rest": "on"})
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    source = DataGeneratorSource(lambda n: n, records_per_second=100)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).print()
    env.execute("endless")
    print("not reached")
"""


@pytest.mark.parametrize("start", [[], ["-m", "scurry", "run"]], ids=["python", "scurry run"])
def test_a_program_whose_job_is_cancelled_fails(start: list[str], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    variables = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1", "XDG_RUNTIME_DIR": str(tmp_path)}
    job = subprocess.Popen(
        [sys.executable, *start, str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables
    )
    watchdog = threading.Timer(60, job.kill)
    watchdog.start()
    assert job.stdout is not None
    job.stdout.readline()
    subprocess.run([sys.executable, "-m", "scurry", "cancel", "endless"], env=variables, check=True, timeout=60)
    out, err = job.communicate()
    watchdog.cancel()
    assert job.returncode == 1
    assert "Job 'endless' was cancelled by" in err and "not reached" not in out
