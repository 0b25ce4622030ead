"""Operators of one name have metrics of their own, wherever metrics are seen."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.common.job_client import JobClient
from scurry.datastream import StreamExecutionEnvironment
from scurry.metrics import DistributionResult
from scurry.rest.archive import write_archive
from scurry.rest.job import ServedJob
from scurry.rest.metrics import prometheus_text
from scurry.rest.reporters.contract import ReporterOptions
from scurry.rest.reporters.senders import StatsDReporter
from scurry.rest.routes import jobs
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.progress import ProgressDisplay
from support.rest.fake_jobs import FakeJob, as_job
from support.statements.tables import environment

#: read and written records of: the source, Map, Filter (even), Map, Filter (above 50)
EXPECTED = [(0, 100), (100, 100), (100, 50), (50, 50), (50, 25)]


def ended(client: JobClient | None) -> ServedJob:
    assert client is not None
    if not isinstance(client, RunningJob):
        client = client._job  # type: ignore[attr-defined] # that of streams below a job of tables
    client.get_job_execution_result().result()
    return ServedJob(client, 0, ended_ms=1)  # type: ignore[arg-type] # a RunningJob


@pytest.fixture(scope="module")
def job() -> ServedJob:
    """Two maps and two filters without names."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.set_parallelism(1)
    even = env.from_collection(list(range(100))).map(lambda n: n).filter(lambda n: n % 2 == 0)
    even.map(lambda n: n).filter(lambda n: n >= 50).print()
    return ended(env.execute_async("twice"))


def records(vertices: list[Any]) -> list[tuple[int, int]]:
    return [(one["metrics"]["read-records"], one["metrics"]["write-records"]) for one in vertices[: len(EXPECTED)]]


def test_rest_has_the_records_of_each(job: ServedJob) -> None:
    assert records(jobs.details(job).model_dump(by_alias=True)["vertices"]) == EXPECTED


def test_the_archive_has_the_records_of_each(job: ServedJob, tmp_path: Path) -> None:
    write_archive(job, str(tmp_path))
    archive = {one["path"]: json.loads(one["json"]) for one in json.loads((tmp_path / job.id).read_text())["archive"]}
    assert records(archive[f"/jobs/{job.id}"]["vertices"]) == EXPECTED


def test_metrics_of_the_job_have_the_uid_in_place_of_the_ambiguous_name(job: ServedJob) -> None:
    found = job.client.get_metrics().result()
    assert [found[f"{operator}.numRecordsOut"] for operator in ("1-Map", "2-Filter", "3-Map", "4-Filter")] == [
        written for _, written in EXPECTED[1:]
    ]
    assert {one.id for one in jobs.metrics(job)} == set(found)


def test_prometheus_tells_them_apart_by_the_id(job: ServedJob) -> None:
    lines = [line for line in prometheus_text(job).splitlines() if line.startswith("flink_taskmanager_job_task_oper")]
    labels = [line.rpartition(" ")[0] for line in lines]
    assert len(labels) == len(set(labels))
    maps = [line for line in lines if "numRecordsOut{" in line and 'operator_name="Map"' in line]
    assert sorted(int(line.rpartition(" ")[2]) for line in maps) == [50, 100]


def test_metrics_that_only_the_operator_as_a_whole_has_are_not_those_of_the_first(job: FakeJob) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.from_collection([1]).map(abs).name("a").map(abs).name("a").map(abs).name("a.b").print().name("out")
    fake = FakeJob()
    fake.execution.plan = env._plan("dots")
    fake.execution.operator_metrics = lambda: {2: {"size": 5}, 3: {"size": DistributionResult(1, 1, 1, 1)}}  # type: ignore[method-assign]
    text = [
        line for line in prometheus_text(ServedJob(as_job(fake), 0)).splitlines() if "_size" in line and "{" in line
    ]
    assert len(text) == 1 and 'operator_name="a"' in text[0] and text[0].endswith(" 5")


def test_statsd_names_them_apart(job: ServedJob) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(20)
        values = {"host": "127.0.0.1", "port": str(listening.getsockname()[1])}
        reporter = StatsDReporter(ReporterOptions("mine", values, {}))
        reporter.report(job)
        reporter.close()
        found: list[str] = []
        while not any(".Print-to-Std" in one for one in found):
            found.append(listening.recv(1000).decode())
    written = [one for one in found if ".numRecordsOut:" in one]
    assert len({one.rpartition(":")[0] for one in written}) == len(written)
    assert {one.partition("twice.")[2] for one in written} >= {
        "1-Map.0.numRecordsOut:100|g",
        "3-Map.0.numRecordsOut:50|g",
    }


def test_the_summary_names_the_operator_that_dropped_records(job: ServedJob) -> None:
    execution: Any = job.client.execution
    first, second = (op.id for op in execution.plan.operators.values() if op.name == "Map")
    execution.totals._count(second, "numLateRecordsDropped", 3)
    assert ProgressDisplay(execution).summary().endswith("; 3 late records dropped by 3-Map")
    assert first != second


def test_sql_with_two_calcs_has_the_rows_of_each() -> None:
    env = environment(**{"parallelism.default": "1"})
    env.execute_sql("""CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '100',
        'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100')""")
    env.execute_sql("CREATE TABLE o (m BIGINT) WITH ('connector' = 'blackhole')")
    ran = ended(env.execute_sql(
        "INSERT INTO o SELECT s FROM (SELECT k, SUM(n) AS s FROM (SELECT n % 5 AS k, n FROM t WHERE n > 10) GROUP BY k)"
        " WHERE s > 500"
    ).get_job_client())  # fmt: skip
    found = jobs.details(ran).model_dump(by_alias=True)["vertices"]
    written = [one["metrics"]["write-records"] for one in found if one["name"].startswith("Calc")]
    assert len(written) == 2 and written[0] == 90 > written[1] > 0
