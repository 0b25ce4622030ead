"""Sources and operators, and their subtasks."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.errors import RequestRefusedError
from scurry.metrics.scopes import in_group
from scurry.rest.client import RemoteProcess
from scurry.rest.plan_json import vertex_id
from support.rest.fake_jobs import FakeJob

SUMS = vertex_id("sums")


@pytest.fixture(autouse=True)
def counted(job: FakeJob) -> None:
    """What the two subtasks of `numbers` and `sums` have counted."""
    (numbers,) = job.execution.plan.sources
    sums = next(iter(job.execution.plan.operators))
    job.execution.subtasks = {
        numbers: {"backPressuredTimeMsPerSecond": {0: 600, 1: 600}},
        sums: {"numRecordsOut": {0: 30, 1: 10, 2: 99}, "currentOutputWatermark": {1: 5000}},
    }


def ask(process: RemoteProcess, job: FakeJob, path: str, **query: Any) -> Any:
    return process.request("GET", f"/jobs/{job.id}/vertices/{SUMS}{path}", **query)


def test_a_vertex_has_its_subtasks(process: RemoteProcess, job: FakeJob) -> None:
    found = ask(process, job, "")
    assert (found["id"], found["name"], found["parallelism"]) == (SUMS, "sums", 2)
    assert [(one["subtask"], one["metrics"]["write-records"]) for one in found["subtasks"]] == [(0, 30), (1, 10)]


def test_figures_and_times_of_its_subtasks_are_aggregated(process: RemoteProcess, job: FakeJob) -> None:
    found = ask(process, job, "")["aggregated"]
    assert found["metrics"]["write-records"] == {
        "min": 10, "max": 30, "avg": 20, "sum": 40, "median": 20, "p25": 10, "p75": 30, "p95": 30,
    }  # fmt: skip
    assert found["status-duration"]["RUNNING"]["min"] > 0 and found["status-duration"]["CREATED"]["max"] == 0


def test_all_subtasks_are_told_with_the_skew_of_their_state(process: RemoteProcess, job: FakeJob) -> None:
    sums = next(iter(job.execution.plan.operators))
    job.execution.subtasks[sums]["stateSize"] = {0: 300, 1: 100}
    (found,) = [one for one in process.request("GET", f"/jobs/{job.id}/subtasks")["vertices"] if one["id"] == SUMS]
    assert found["state"] == {"min": 100, "max": 300, "avg": 200, "sum": 400, "skew": 50}
    assert [one["stateSize"] for one in found["subtasks"]] == [300, 100]


def test_metrics_are_named_by_subtask(process: RemoteProcess, job: FakeJob) -> None:
    assert {"id": "1.numRecordsOut"} in ask(process, job, "/metrics")
    assert ask(process, job, "/metrics", get="1.numRecordsOut,0.nothing") == [{"id": "1.numRecordsOut", "value": "10"}]


def test_metrics_of_all_subtasks_are_aggregated_as_flink_does(process: RemoteProcess, job: FakeJob) -> None:
    (found,) = ask(process, job, "/subtasks/metrics", get="numRecordsOut,nothing")
    assert found == {"id": "numRecordsOut", "min": 10, "max": 30, "avg": 20, "sum": 40, "skew": 50}


def test_those_of_functions_have_the_operators_name_and_their_groups(process: RemoteProcess, job: FakeJob) -> None:
    (number,) = [one.id for one in job.execution.plan.operators.values() if one.name == "sums"]
    job.execution.of_users = {number: {in_group(in_group("", "kind", "odd, 1.5"), "seen"): {0: 3, 1: 4}}}
    assert ask(process, job, "/metrics", get="1.sums.kind.odd__1_5.seen") == [
        {"id": "1.sums.kind.odd__1_5.seen", "value": "4"}
    ]
    assert ask(process, job, "/subtasks/metrics", get="sums.kind.odd__1_5.seen")[0]["sum"] == 7


def test_only_subtasks_with_a_watermark_are_listed(process: RemoteProcess, job: FakeJob) -> None:
    assert ask(process, job, "/watermarks") == [{"id": "1.currentInputWatermark", "value": "5000"}]


def test_back_pressure_is_that_of_the_worst_subtask(process: RemoteProcess, job: FakeJob) -> None:
    found = process.request("GET", f"/jobs/{job.id}/vertices/{vertex_id('numbers')}/backpressure")
    assert (found["backpressure-level"], found["subtasks"][0]["ratio"]) == ("high", 0.6)
    assert ask(process, job, "/backpressure")["backpressure-level"] == "ok"


@pytest.mark.parametrize("path", ["/subtasktimes", "/taskmanagers", "/accumulators", "/subtasks/accumulators"])
def test_what_flinks_dashboard_asks_for_is_answered(path: str, process: RemoteProcess, job: FakeJob) -> None:
    assert ask(process, job, path)["id"] == SUMS


def test_another_vertex_is_not_found(process: RemoteProcess, job: FakeJob) -> None:
    with pytest.raises(RequestRefusedError, match="no vertex"):
        process.request("GET", f"/jobs/{job.id}/vertices/{'0' * 32}")


def test_an_operator_has_received_what_those_before_it_have_sent(process: RemoteProcess, job: FakeJob) -> None:
    job.metrics = {"numbers.numRecordsOut": 41}
    found = {one["name"]: one["metrics"] for one in process.request("GET", f"/jobs/{job.id}")["vertices"]}
    assert (found["sums"]["read-records"], found["numbers"]["read-records"]) == (41, 0)


def test_the_program_of_a_job_is_an_application(process: RemoteProcess, job: FakeJob) -> None:
    (found,) = process.request("GET", "/applications/overview")["applications"]
    assert (found["id"], found["status"], found["jobs"]) == (str(job.id), "RUNNING", {"RUNNING": 1})
    assert process.request("GET", f"/applications/{job.id}")["jobs"][0]["name"] == "orders"


def test_a_process_says_what_its_threads_do(process: RemoteProcess) -> None:
    threads = process.request("GET", "/jobmanager/thread-dump")["threadInfos"]
    assert "thread_dump" in "".join(one["stringifiedThreadInfo"] for one in threads)
    (used,) = process.request("GET", "/jobmanager/metrics", get="Status.Process.Memory.MaxResident")
    assert int(used["value"]) > 10_000_000
