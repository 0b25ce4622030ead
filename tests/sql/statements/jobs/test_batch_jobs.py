"""Statements in BATCH are jobs like any other: cancelled, restarted, measured and operated as in STREAMING."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

from scurry.cli import operate
from scurry.common import JobStatus
from scurry.common.types import Row
from scurry.errors import JobCancelledError, JobError
from scurry.rest.registry import find_job
from scurry.table import DataTypes, TableEnvironment
from scurry.table.udf import (
    AggregateFunction,
    ArgumentHint,
    ArgumentTrait,
    AsyncScalarFunction,
    ProcessTableFunction,
    ScalarFunction,
    TableFunction,
    udaf,
    udf,
    udtf,
)
from support.statements.tables import environment

#: Longer than any step takes on a slow machine.
DEADLINE = 60.0


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def batch(**settings: str) -> TableEnvironment:
    env = environment(False, **settings)
    unlimited = "'rows-per-second' = '100000000'"
    env.execute_sql(
        f"CREATE TABLE numbers (x INT) WITH ('connector' = 'datagen', 'number-of-rows' = '100000', {unlimited})"
    )
    return env


def with_files(env: TableEnvironment, directory: Path, name: str = "files") -> Path:
    path = directory / name
    env.execute_sql(
        f"CREATE TABLE {name} (x INT) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    return path


def lines(path: Path) -> list[str]:
    """The lines of committed files; names of others begin with a dot."""
    files = (file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith("."))
    return [line for file in files for line in file.read_text().splitlines()]


class Slow(ScalarFunction):
    def eval(self, x: int) -> int:
        time.sleep(0.01)
        return x


slowly = udf(Slow(), result_type=DataTypes.INT())


class Counted(ScalarFunction):
    def open(self, function_context: Any) -> None:
        self.calls = function_context.get_metric_group().counter("calls")

    def eval(self, x: int) -> int:
        self.calls.inc()
        return x


class FailsOnce(ScalarFunction):
    """Fails in the middle of the first attempt."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def eval(self, x: int) -> int:
        if x == 3 and not self.mark.exists():
            self.mark.touch()
            raise RuntimeError("the first attempt")
        return x


def records_read(job: Any) -> int:
    return sum(count for name, count in job.get_metrics().result().items() if name.startswith("TableSourceScan["))


def test_a_cancelled_insertion_ends_at_once_and_commits_nothing(tmp_path: Path) -> None:
    env = batch()
    path = with_files(env, tmp_path)
    env.create_temporary_function("slowly", slowly)
    result = env.execute_sql("INSERT INTO files SELECT slowly(x) FROM numbers")
    job = result.get_job_client()
    assert job is not None
    wait_until(lambda: records_read(job))
    asked = time.monotonic()
    job.cancel().result()
    assert time.monotonic() - asked < DEADLINE  # all rows would take a quarter of an hour
    assert job.get_job_status().result() == JobStatus.CANCELED
    assert lines(path) == []
    with pytest.raises(JobCancelledError):
        result.wait()


def test_an_insertion_whose_attempt_fails_is_restarted_and_writes_each_row_once(tmp_path: Path) -> None:
    env = batch(**{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0 ms"})
    path = with_files(env, tmp_path)
    env.create_temporary_function("fails", udf(FailsOnce(tmp_path / "mark"), result_type=DataTypes.INT()))
    result = env.execute_sql("INSERT INTO files SELECT fails(x) FROM (VALUES (1), (2), (3), (4)) AS t (x)")
    result.wait()
    assert sorted(lines(path)) == ["1", "2", "3", "4"]
    job: Any = result.get_job_client()
    assert job.execution.attempt == 1 and "the first attempt" in job.execution.failures[0].text
    assert job.get_metrics().result()["Sink[default_catalog.default_database.files].numRecordsIn"] == 4


def test_without_a_restart_strategy_the_first_failure_ends_the_job(tmp_path: Path) -> None:
    env = batch()
    path = with_files(env, tmp_path)
    env.create_temporary_function("fails", udf(FailsOnce(tmp_path / "mark"), result_type=DataTypes.INT()))
    result = env.execute_sql("INSERT INTO files SELECT fails(x) FROM (VALUES (1), (2), (3), (4)) AS t (x)")
    with pytest.raises(JobError, match="the first attempt"):
        result.wait()
    assert lines(path) == []
    job = result.get_job_client()
    assert job is not None and job.get_job_status().result() == JobStatus.FAILED
    with pytest.raises(JobError, match="the first attempt"):
        job.get_job_execution_result().result()


def test_a_query_is_not_restarted_once_rows_of_it_were_taken(tmp_path: Path) -> None:
    env = batch(**{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0 ms"})
    env.create_temporary_function("fails", udf(FailsOnce(tmp_path / "mark"), result_type=DataTypes.INT()))
    query = "SELECT x FROM (VALUES (1)) AS t (x) UNION ALL SELECT fails(x) FROM (VALUES (3)) AS u (x)"
    rows = env.execute_sql(query).collect()
    with pytest.raises(JobError, match="the first attempt"):
        list(rows)
    assert [row[0] for row in env.execute_sql(query).collect()] == [1, 3]


def test_a_statement_set_commits_nothing_if_one_of_its_insertions_fails(tmp_path: Path) -> None:
    env = batch()
    paths = [with_files(env, tmp_path, name) for name in ("first_sink", "second_sink")]
    env.create_temporary_function("fails", udf(FailsOnce(tmp_path / "mark"), result_type=DataTypes.INT()))
    statements = env.create_statement_set()
    statements.add_insert_sql("INSERT INTO first_sink VALUES (1)")
    statements.add_insert_sql("INSERT INTO second_sink SELECT fails(x) FROM (VALUES (3)) AS t (x)")
    with pytest.raises(JobError):
        statements.execute().wait()
    assert list(map(lines, paths)) == [[], []]


def test_the_client_of_a_query_tells_what_its_job_does() -> None:
    env = batch()
    env.create_temporary_function("counted", udf(Counted(), result_type=DataTypes.INT()))
    result = env.execute_sql("SELECT counted(x) FROM numbers WHERE x > 0 OR x <= 0")
    job = result.get_job_client()
    assert job is not None and job.get_job_status().result() == JobStatus.CREATED
    with result.collect() as rows:
        assert len(list(rows)) == 100_000
    assert job.get_job_status().result() == JobStatus.FINISHED
    outcome = job.get_job_execution_result().result()
    assert outcome.get_job_id() == job.get_job_id()
    assert job.get_accumulators().result() == {"calls": 100_000}
    metrics = job.get_metrics().result()
    assert metrics["TableSourceScan[default_catalog.default_database.numbers].numRecordsOut"] == 100_000
    assert metrics["Calc.numRecordsOut"] == metrics["Collect.numRecordsIn"] == 100_000


def test_the_rows_of_a_cancelled_query_end() -> None:
    env = batch()
    env.create_temporary_function("slowly", slowly)
    result = env.execute_sql("SELECT slowly(x) FROM numbers")
    job = result.get_job_client()
    assert job is not None
    with result.collect() as rows:
        next(rows)
        job.cancel().result()
        assert len(list(rows)) < 100_000
    assert job.get_job_status().result() == JobStatus.CANCELED


def test_a_query_that_is_cancelled_before_it_begins_never_begins() -> None:
    result = batch().execute_sql("SELECT x FROM numbers")
    job = result.get_job_client()
    assert job is not None
    job.cancel().result()
    assert list(result.collect()) == []
    assert job.get_job_status().result() == JobStatus.CANCELED


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A running insertion in BATCH, and how other processes find it."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    env = batch(**{"scurry.rest": "on"})
    with_files(env, tmp_path)
    env.create_temporary_function("slowly", slowly)
    job = env.execute_sql("INSERT INTO files SELECT slowly(x) FROM numbers").get_job_client()
    assert job is not None
    yield job, find_job(str(job.get_job_id()))
    job.cancel().result()


def test_the_endpoint_of_an_insertion_shows_its_plan_and_what_it_has_read(started: Any) -> None:
    _, served = started

    def details() -> Any:
        return served.process.request("GET", f"/jobs/{served.id}")

    def counts() -> dict[str, int]:
        return {one["name"].partition("[")[0]: one["metrics"]["write-records"] for one in details()["vertices"]}

    wait_until(lambda: counts()["TableSourceScan"])
    found = details()
    assert (found["state"], found["job-type"]) == ("RUNNING", "BATCH")
    assert [node["description"].partition("[")[0] for node in found["plan"]["nodes"]] == [
        "TableSourceScan",
        "Calc",
        "Sink",
    ]
    sql = served.process.request("GET", f"/jobs/{served.id}/sql")
    assert sql["sql"].startswith("INSERT INTO files") and "Calc(select=[slowly(" in sql["plan"]


def test_scurry_cancel_ends_an_insertion(started: Any) -> None:
    job, served = started
    operate.cancel(served.id)
    assert job.get_job_status().result() == JobStatus.CANCELED
    with pytest.raises(JobCancelledError):
        job.get_job_execution_result().result()


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize(("kind", "text"), [("json", '{"x": 1}\nno object\n{"x": 2}\n'), ("csv", '1\n"2" 3\n4\n')])
def test_lines_that_are_left_out_are_counted(mode: str, kind: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_text(text)
    env = environment(mode == "STREAMING")
    env.execute_sql(
        f"CREATE TABLE lines (x INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = '{kind}', "
        f"'{kind}.ignore-parse-errors' = 'true')"
    )
    env.execute_sql("CREATE TABLE s (x INT) WITH ('connector' = 'blackhole')")
    result = env.execute_sql("INSERT INTO s SELECT x FROM lines")
    result.wait()
    job: Any = result.get_job_client()
    assert job.execution.totals.malformed == {"TableSourceScan[default_catalog.default_database.lines]": 1}
    assert job.execution.totals.records_out == 2


class Noted:
    """A call of a function that takes a while, and is counted in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def note(self) -> None:
        with self.path.open("a") as file:
            file.write(".")


def calls(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


class SlowRow(Noted, ScalarFunction):
    def eval(self, x: int) -> int:
        self.note()
        time.sleep(0.01)
        return x


class SlowLater(Noted, AsyncScalarFunction):
    async def eval(self, x: int) -> int:
        self.note()
        await asyncio.sleep(0.1)
        return x


class SlowRows(Noted, TableFunction):
    def eval(self, x: int) -> Iterator[int]:
        self.note()
        time.sleep(0.01)
        yield x


class SlowSum(Noted, AggregateFunction[int, list[int]]):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], x: int) -> None:
        self.note()
        time.sleep(0.01)
        accumulator[0] += 1

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class SlowProcess(Noted, ProcessTableFunction):
    def eval(self, numbers: Annotated[Row, ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE)]) -> Iterator[int]:
        self.note()
        time.sleep(0.01)
        yield numbers.x


def slow_functions(path: Path) -> dict[str, Any]:
    number = DataTypes.INT()
    return {
        "slowly": udf(SlowRow(path), result_type=number),
        "slow_later": udf(SlowLater(path), result_type=number),
        "slow_rows": udtf(SlowRows(path), result_types=[number]),
        "slow_sum": udaf(SlowSum(path), result_type=number, accumulator_type=DataTypes.ARRAY(number)),
        "slow_process": SlowProcess(path),
    }


QUERIES_WITH_SLOW_FUNCTIONS = [
    "SELECT slowly(x) FROM numbers",
    "SELECT a.x FROM numbers a JOIN numbers b ON slowly(a.x) = b.x",
    "SELECT a.x FROM few a JOIN few b ON slowly(a.x + b.x) > 0",
    "SELECT n FROM numbers, LATERAL TABLE(slow_rows(x)) AS t (n)",
    "SELECT slow_sum(x) FROM numbers",
    "SELECT CAST(slow_later(x) AS INT) FROM numbers",
    "SELECT * FROM slow_process(TABLE numbers)",
]


@pytest.mark.parametrize("query", QUERIES_WITH_SLOW_FUNCTIONS)
def test_an_insertion_is_stopped_between_the_rows_of_any_function(query: str, tmp_path: Path) -> None:
    env = batch()
    env.execute_sql("CREATE TABLE few (x INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1000')")
    env.execute_sql("CREATE TABLE s (x BIGINT) WITH ('connector' = 'blackhole')")
    for name, function in slow_functions(tmp_path / "calls").items():
        env.create_temporary_function(name, function)
    job = env.execute_sql(f"INSERT INTO s {query}").get_job_client()
    assert job is not None
    wait_until(lambda: calls(tmp_path / "calls") > 10)
    job.cancel().result()
    assert job.get_job_status().result() == JobStatus.CANCELED
    assert calls(tmp_path / "calls") < 1000  # of 100,000


@pytest.mark.parametrize("condition", ["TRUE", "a.x > b.x", "MOD(a.x, 2) = MOD(b.x, 2)"])
def test_a_join_of_many_pairs_is_stopped_between_them(condition: str) -> None:
    env = batch()
    env.execute_sql("CREATE TABLE s (x INT) WITH ('connector' = 'blackhole')")
    job: Any = env.execute_sql(
        f"INSERT INTO s SELECT a.x FROM numbers a JOIN numbers b ON {condition}"
    ).get_job_client()
    wait_until(lambda: job.get_metrics().result().get("Sink[default_catalog.default_database.s].numRecordsIn"))
    job.cancel().result()  # of thousands of millions of pairs
    assert job.get_job_status().result() == JobStatus.CANCELED
