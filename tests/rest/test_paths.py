"""What the endpoint answers, path by path, with Flink's field names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.common import JobStatus, Row
from scurry.errors import ConfigError, RequestRefusedError, StateNotFoundError, UnsupportedError
from scurry.graph.settings import TableProgram
from scurry.metrics import DistributionResult, MeterResult
from scurry.rest.client import RemoteProcess
from scurry.rest.routes.common import invalid_parameter
from scurry.runtime.driver.dead_letters import SampledDeadLetter
from support.rest.fake_jobs import FakeExecution, FakeJob, plan_of

UNKNOWN = "0" * 32


def refusal(process: RemoteProcess, *request: Any, **query: Any) -> tuple[int, str]:
    with pytest.raises(RequestRefusedError) as refused:
        process.request(*request, **query)
    return refused.value.status, str(refused.value)


class TestTables:
    def test_a_job_of_tables_has_its_statements_and_its_plan(self, job: FakeJob, process: RemoteProcess) -> None:
        plan = job.execution.plan
        plan.settings = replace(plan.settings, tables=TableProgram("INSERT INTO t SELECT 1", "== Plan =="))
        assert process.request("GET", f"/jobs/{job.id}/sql") == {"sql": "INSERT INTO t SELECT 1", "plan": "== Plan =="}

    def test_other_jobs_have_none(self, job: FakeJob, process: RemoteProcess) -> None:
        assert process.request("GET", f"/jobs/{job.id}/sql") == {"sql": "", "plan": ""}


class TestDeadLetters:
    def test_samples_come_with_the_number_of_all(self, job: FakeJob, process: RemoteProcess) -> None:
        job.metrics = {"numbers.numDeadLetters": 2, "sums.numDeadLetters": 5}
        letters = job.execution.dead_letters.latest
        letters += [
            SampledDeadLetter(1000, "numbers", 1, "'x'", "ValueError", "no number", "in.txt", 7),
            SampledDeadLetter(2000, "sums", 0, "0", "ZeroDivisionError", "division by zero", None, None),
        ]
        found = process.request("GET", f"/jobs/{job.id}/dead-letters")
        assert found["count"] == 7
        assert [entry["operator"] for entry in found["entries"]] == ["sums", "numbers"]
        assert (found["entries"][1]["place"], found["entries"][1]["line"]) == ("in.txt", 7)


class TestJobs:
    def test_the_address_of_sparks_page_is_known_while_the_job_runs(self, job: FakeJob, process: RemoteProcess) -> None:
        job.execution.spark_ui = "http://driver:4040"
        assert process.request("GET", f"/jobs/{job.id}")["spark-ui"] == "http://driver:4040"

    def test_the_list_has_id_and_status(self, job: FakeJob, process: RemoteProcess) -> None:
        assert process.request("GET", "/jobs") == {"jobs": [{"id": str(job.id), "status": "RUNNING"}]}

    def test_paths_have_flinks_version_prefix_too(self, process: RemoteProcess) -> None:
        assert process.request("GET", "/v1/jobs") == process.request("GET", "/jobs")

    def test_the_overview_counts_subtasks_by_their_state(self, job: FakeJob, process: RemoteProcess) -> None:
        (found,) = process.request("GET", "/jobs/overview")["jobs"]
        assert (found["jid"], found["name"], found["state"]) == (str(job.id), "orders", "RUNNING")
        assert found["end-time"] == -1
        assert found["tasks"]["running"] == found["tasks"]["total"] > 0
        assert found["duration"] >= 0

    def test_details_have_a_vertex_for_each_source_and_operator(self, job: FakeJob, process: RemoteProcess) -> None:
        job.metrics = {"numbers.numRecordsOut": 3}
        found = process.request("GET", f"/jobs/{job.id}")
        assert found["state"] == "RUNNING" and found["job-type"] == "STREAMING"
        by_uid = {vertex["uid"]: vertex for vertex in found["vertices"]}
        numbers = by_uid["numbers"]["metrics"]
        assert (numbers["write-records"], numbers["write-records-complete"]) == (3, True)
        assert by_uid["sums"]["parallelism"] == 2

    def test_another_job_is_not_found(self, process: RemoteProcess) -> None:
        status, reason = refusal(process, "GET", f"/jobs/{UNKNOWN}")
        assert status == 404 and "this is the endpoint of" in reason

    def test_a_malformed_id_is_a_bad_request(self, process: RemoteProcess) -> None:
        assert refusal(process, "GET", "/jobs/x")[0] == 400

    def test_cancelling_is_accepted_and_the_job_hears_of_it(self, job: FakeJob, process: RemoteProcess) -> None:
        assert process.request("PATCH", f"/jobs/{job.id}", mode="cancel") == {}
        assert job.asked == [("cancel",)]

    def test_another_mode_is_refused(self, job: FakeJob, process: RemoteProcess) -> None:
        assert refusal(process, "PATCH", f"/jobs/{job.id}", mode="stop")[0] == 400

    def test_the_plan_has_nodes_whose_inputs_are_nodes(self, job: FakeJob, process: RemoteProcess) -> None:
        nodes = process.request("GET", f"/jobs/{job.id}/plan")["plan"]["nodes"]
        ids = {node["id"] for node in nodes}
        by_uid = {node["uid"]: node for node in nodes}
        assert all(one["id"] in ids for node in nodes for one in node["inputs"])
        assert [one["ship_strategy"] for one in by_uid["sums"]["inputs"]] == ["HASH"]

    def test_a_running_job_has_no_exceptions(self, job: FakeJob, process: RemoteProcess) -> None:
        assert process.request("GET", f"/jobs/{job.id}/exceptions") == {
            "exceptionHistory": {"entries": [], "truncated": False}
        }

    def test_failures_are_listed_the_latest_first(self, job: FakeJob, process: RemoteProcess) -> None:
        job.execution.failures = [
            SimpleNamespace(timestamp_ms=at, text=f"division {at}", details="  File ...", error="Bad", operator="sums")
            for at in (1000, 2000)
        ]
        last, first = process.request("GET", f"/jobs/{job.id}/exceptions")["exceptionHistory"]["entries"]
        assert (first["timestamp"], last["timestamp"]) == (1000, 2000)
        assert (last["exceptionName"], last["taskName"]) == ("Bad", "sums")
        assert last["stacktrace"] == "division 2000\n  File ..."

    def test_counters_are_accumulators(self, job: FakeJob, process: RemoteProcess) -> None:
        job.accumulators = {"seen": 7}
        found = process.request("GET", f"/jobs/{job.id}/accumulators")
        assert found["user-task-accumulators"] == [{"name": "seen", "type": "LongCounter", "value": "7"}]


class TestMetrics:
    def test_without_names_their_names_are_listed(self, job: FakeJob, process: RemoteProcess) -> None:
        job.metrics = {"sums.numRecordsIn": 4}
        assert process.request("GET", f"/jobs/{job.id}/metrics") == [{"id": "sums.numRecordsIn"}]

    def test_values_are_texts_of_those_asked_for(self, job: FakeJob, process: RemoteProcess) -> None:
        job.metrics = {"a": 1, "b": 2, "c": 3}
        found = process.request("GET", f"/jobs/{job.id}/metrics", get="a,c,z")
        assert found == [{"id": "a", "value": "1"}, {"id": "c", "value": "3"}]

    def test_metrics_of_several_values_are_several_metrics(self, job: FakeJob, process: RemoteProcess) -> None:
        job.metrics = {"m": MeterResult(6, 0.1), "d": DistributionResult(6.0, 3, 1.0, 3.0), "g": {0: 5, 1: 6}}
        names = [one["id"] for one in process.request("GET", f"/jobs/{job.id}/metrics")]
        assert names == ["m_count", "m_rate", "d_sum", "d_count", "d_min", "d_max", "d_mean", "0.g", "1.g"]


class TestCheckpoints:
    def test_their_settings_have_flinks_names(self, job: FakeJob, process: RemoteProcess) -> None:
        plan = job.execution.plan
        plan.settings = replace(plan.settings, checkpoint_dir="/c", checkpoint_interval_ms=500, checkpoint_pause_ms=100)
        found = process.request("GET", f"/jobs/{job.id}/checkpoints/config")
        assert (found["interval"], found["min_pause"], found["checkpoint_storage"]) == (500, 100, "/c")
        assert found["externalization"] == {"enabled": True, "delete_on_cancellation": False}

    def test_restores_are_counted(self, job: FakeJob, process: RemoteProcess) -> None:
        job.execution.restored_checkpoints = 2
        assert process.request("GET", f"/jobs/{job.id}/checkpoints")["counts"]["restored"] == 2

    def test_they_tell_where_sources_stood(self, job: FakeJob, process: RemoteProcess) -> None:
        job.taken = [SimpleNamespace(checkpoint_id=1, trigger_timestamp_ms=1000, duration_ms=20, state_size_bytes=None,
                                     phases={}, states={}, source_positions={"numbers": {"offset": 7}})]  # fmt: skip
        (found,) = process.request("GET", f"/jobs/{job.id}/checkpoints")["history"]
        assert found["positions"] == {"numbers": {"offset": 7}}
        assert (found["trigger_timestamp"], found["latest_ack_timestamp"], found["state_size"]) == (1000, 1020, None)


class TestSavepoints:
    def test_a_savepoint_is_triggered_and_asked_for(self, job: FakeJob, process: RemoteProcess) -> None:
        trigger = process.request("POST", f"/jobs/{job.id}/savepoints", {"target-directory": "/s"})["request-id"]
        path = f"/jobs/{job.id}/savepoints/{trigger}"
        assert job.asked == [("savepoint", "/s")]
        assert process.request("GET", path) == {"status": {"id": "IN_PROGRESS"}}
        job.savepoint.set_result("/s/savepoint-1")
        assert process.request("GET", path) == {
            "status": {"id": "COMPLETED"}, "operation": {"location": "/s/savepoint-1"},
        }  # fmt: skip

    def test_a_savepoint_that_failed_says_why(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_exception(OSError("disk full"))
        trigger = process.request("POST", f"/jobs/{job.id}/savepoints", {})["request-id"]
        found = process.request("GET", f"/jobs/{job.id}/savepoints/{trigger}")
        cause = found["operation"]["failure-cause"]
        assert (cause["class"], cause["stack-trace"]) == ("OSError", "disk full")

    def test_a_savepoint_that_cancels_the_job_stops_it(self, job: FakeJob, process: RemoteProcess) -> None:
        process.request("POST", f"/jobs/{job.id}/savepoints", {"cancel-job": True})
        assert job.asked == [("stop", False, None)]

    def test_stopping_may_drain(self, job: FakeJob, process: RemoteProcess) -> None:
        process.request("POST", f"/jobs/{job.id}/stop", {"drain": True, "targetDirectory": "/s"})
        assert job.asked == [("stop", True, "/s")]

    def test_the_outcome_of_a_stop_is_asked_for_like_a_savepoints(self, job: FakeJob, process: RemoteProcess) -> None:
        job.savepoint.set_result("/s/savepoint-1")
        trigger = process.request("POST", f"/jobs/{job.id}/stop", {})["request-id"]
        found = process.request("GET", f"/jobs/{job.id}/savepoints/{trigger}")
        assert found["operation"] == {"location": "/s/savepoint-1"}

    def test_a_repeated_trigger_id_does_nothing_twice(self, job: FakeJob, process: RemoteProcess) -> None:
        body = {"triggerId": "ab" * 16}
        answers = [process.request("POST", f"/jobs/{job.id}/savepoints", body) for _ in range(2)]
        assert answers == [{"request-id": "ab" * 16}] * 2
        assert len(job.asked) == 1

    def test_an_unknown_trigger_id_is_not_found(self, job: FakeJob, process: RemoteProcess) -> None:
        assert refusal(process, "GET", f"/jobs/{job.id}/savepoints/{UNKNOWN}")[0] == 404

    def test_misspelt_fields_are_named(self, job: FakeJob, process: RemoteProcess) -> None:
        status, reason = refusal(process, "POST", f"/jobs/{job.id}/savepoints", {"targetDirectory": "/s"})
        assert status == 400 and "targetDirectory" in reason
        assert job.asked == []

    def test_a_job_without_a_place_for_savepoints_says_so(self, job: FakeJob, process: RemoteProcess) -> None:
        job.refusal = ConfigError("state.savepoints.dir is not set")
        assert refusal(process, "POST", f"/jobs/{job.id}/savepoints", {}) == (400, "state.savepoints.dir is not set")

    def test_what_a_job_cannot_do_is_a_conflict(self, job: FakeJob, process: RemoteProcess) -> None:
        job.refusal = UnsupportedError("a BATCH job has no savepoints before its end")
        status, reason = refusal(process, "POST", f"/jobs/{job.id}/savepoints", {})
        assert (status, reason) == (409, "a BATCH job has no savepoints before its end")


class TestRescaling:
    def vertices(self, job: FakeJob, process: RemoteProcess, parallelism: int) -> dict[str, Any]:
        found: dict[str, Any] = process.request("GET", f"/jobs/{job.id}/resource-requirements")
        return {vertex: {"parallelism": {"lowerBound": 1, "upperBound": parallelism}} for vertex in found}

    def test_resource_requirements_rescale_the_job(self, job: FakeJob, process: RemoteProcess) -> None:
        body = self.vertices(job, process, 5)
        assert process.request("PUT", f"/jobs/{job.id}/resource-requirements", body) == {}
        assert job.asked == [("rescale", 5)]

    def test_all_vertices_want_the_same(self, job: FakeJob, process: RemoteProcess) -> None:
        body = self.vertices(job, process, 5)
        body[min(body)]["parallelism"]["upperBound"] = 6
        status, reason = refusal(process, "PUT", f"/jobs/{job.id}/resource-requirements", body)
        assert status == 400 and "as a whole" in reason

    def test_a_vertex_of_another_job_is_refused(self, job: FakeJob, process: RemoteProcess) -> None:
        body = {UNKNOWN: {"parallelism": {"upperBound": 2}}}
        assert refusal(process, "PUT", f"/jobs/{job.id}/resource-requirements", body)[0] == 400

    def test_the_outcome_of_rescaling_can_be_asked_for(self, job: FakeJob, process: RemoteProcess) -> None:
        trigger = process.request("PATCH", f"/jobs/{job.id}/rescaling", parallelism=4)["request-id"]
        path = f"/jobs/{job.id}/rescaling/{trigger}"
        assert process.request("GET", path) == {"status": {"id": "IN_PROGRESS"}}
        job.rescaled.set_result(None)
        assert process.request("GET", path)["status"] == {"id": "COMPLETED"}

    def test_more_subtasks_than_key_groups_are_refused(self, job: FakeJob, process: RemoteProcess) -> None:
        status, reason = refusal(process, "PATCH", f"/jobs/{job.id}/rescaling", parallelism=129)
        assert status == 400 and "maximum parallelism" in reason


class TestConfiguration:
    def test_secrets_are_hidden(self, job: FakeJob, process: RemoteProcess) -> None:
        settings = job.execution.plan.settings
        settings.configuration.update({
            "spark.hadoop.fs.s3a.secret.key": "hush", "spark.x.password": "hush", "spark.y.access.key": "hush",
            "execution.checkpointing.dir": "s3://user:hush@bucket/path", "spark.jdbc": "jdbc:x://h/d?password=hush&a=b",
        })  # fmt: skip
        for path in (f"/jobs/{job.id}/config", "/jobmanager/config"):
            assert "hush" not in str(process.request("GET", path))
        shown = process.request("GET", f"/jobs/{job.id}/config")["execution-config"]["user-config"]
        assert shown["spark.jdbc"] == "jdbc:x://h/d?password=******&a=b"
        assert shown["execution.checkpointing.dir"] == "s3://user:******@bucket/path"

    def test_the_jobs_settings_have_flinks_names(self, job: FakeJob, process: RemoteProcess) -> None:
        found = process.request("GET", f"/jobs/{job.id}/config")["execution-config"]
        assert (found["execution-mode"], found["job-parallelism"]) == ("STREAMING", 2)

    def test_the_process_tells_its_versions(self, process: RemoteProcess) -> None:
        assert {"flink-version", "scurry-version"} <= set(process.request("GET", "/config"))


@dataclass
class Point:
    x: float
    tags: list[str] = field(default_factory=list)


class TestState:
    @pytest.mark.parametrize(
        ("text", "key"), [("42", 42), ('"42"', "42"), ("abc", "abc"), ('[1, "a"]', (1, "a")), ("true", True)]
    )
    def test_keys_are_json_or_text(self, text: str, key: Any, job: FakeJob, process: RemoteProcess) -> None:
        job.state = {key: 1}
        found = process.request("GET", f"/jobs/{job.id}/state/sums/total", key=text)
        assert found["value"] == 1
        assert type(job.asked[0][3]) is type(key)

    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (Row(name="a", amount=2), {"name": "a", "amount": 2}),
            (Row("a", 2), ["a", 2]),
            (Point(float("nan"), ["\ud800"]), {"x": "nan", "tags": ["\\ud800"]}),
            ({1: b"\0\1"}, {"1": "AAE="}),
            (SimpleNamespace(a=1), "namespace(a=1)"),
        ],
    )
    def test_values_are_json(self, value: Any, shown: Any, job: FakeJob, process: RemoteProcess) -> None:
        job.state = {"k": value}
        assert process.request("GET", f"/jobs/{job.id}/state/sums/total", key="k")["value"] == shown

    def test_a_state_nobody_has_is_not_found(self, job: FakeJob, process: RemoteProcess) -> None:
        job.refusal = StateNotFoundError("there is no operator 'x'")
        assert refusal(process, "GET", f"/jobs/{job.id}/state/x/total", key="k") == (404, "there is no operator 'x'")

    def test_a_key_without_state_is_not_found(self, job: FakeJob, process: RemoteProcess) -> None:
        status, reason = refusal(process, "GET", f"/jobs/{job.id}/state/sums/total", key="k")
        assert status == 404 and "'total'" in reason


class TestEndedJobs:
    @pytest.fixture
    def ended(self, job: FakeJob, process: RemoteProcess) -> RemoteProcess:
        """The endpoint of a job that has failed while a client waits for a savepoint."""
        process.request("POST", f"/jobs/{job.id}/savepoints", {})
        job.end(JobStatus.FAILED)
        return process

    def test_it_can_still_be_read(self, job: FakeJob, ended: RemoteProcess) -> None:
        assert ended.request("GET", "/jobs/overview")["jobs"][0]["end-time"] > 0

    def test_nothing_can_be_asked_of_it(self, job: FakeJob, ended: RemoteProcess) -> None:
        status, reason = refusal(ended, "POST", f"/jobs/{job.id}/savepoints", {})
        assert status == 409 and "FAILED" in reason


def test_the_plan_is_the_one_that_runs_now(job: FakeJob, process: RemoteProcess) -> None:
    job.execution = FakeExecution(plan_of("renamed"))
    assert process.request("GET", f"/jobs/{job.id}/plan")["plan"]["name"] == "renamed"


def test_errors_name_parameters_that_are_called_like_secrets_and_hide_secrets_all_the_same() -> None:
    assert invalid_parameter({"loc": ("path", "token"), "msg": "Input should be a valid integer"}) == (
        "path.token: Input should be a valid integer"
    )
    assert "S3CRET" not in invalid_parameter({"loc": ("body",), "msg": "Value error, password=S3CRET"})
