"""Sessions: programs that run side by side in processes of their own."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from scurry.cli.sessions import find_session, run_in_session
from scurry.common import Configuration
from scurry.errors import ArgumentError, ConfigError, RequestRefusedError, SessionError
from scurry.rest.client import RemoteProcess
from scurry.rest.session.directory import SessionDirectory
from scurry.rest.session.endpoint import SessionEndpoint
from scurry.rest.session.session import SessionCluster
from scurry.rest.settings import RestSettings
from support.rest.fake_jobs import raw

PROGRAM = Path(__file__).parent / "programs" / "job.py"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for variable in ("SCURRY_REST_TOKEN", "SCURRY_REST_URL"):
        monkeypatch.delenv(variable, raising=False)


@contextmanager
def opened(no_token: bool = False) -> Iterator[tuple[SessionCluster, RemoteProcess]]:
    """A session of the in-process runner, and its endpoint."""
    settings = RestSettings.of(Configuration.from_dict({"scurry.rest": "on"}), "local")
    assert settings is not None
    session = SessionCluster("tests", SessionDirectory.named("tests"), {"scurry.runner": "local"})
    endpoint = SessionEndpoint(settings, no_token)
    session.open()
    endpoint.serve(session)
    try:
        yield session, find_session("tests")
    finally:
        endpoint.close()
        session.close(cancel=False)


@pytest.fixture
def session() -> Iterator[SessionCluster]:
    with opened() as (session, _):
        yield session


@pytest.fixture
def process(session: SessionCluster) -> RemoteProcess:
    return find_session("tests")


def submit(process: RemoteProcess, *arguments: str, **settings: str) -> str:
    """Run the program; return its job's id."""
    jar = process.request("POST", "/jars/register", {"path": str(PROGRAM)})["filename"]
    configuration = {key.replace("_", "."): value for key, value in settings.items()}
    body = {"programArgsList": list(arguments), "flinkConfiguration": configuration}
    return str(process.request("POST", f"/jars/{jar}/run", body)["jobid"])


def wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 120
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


def state(process: RemoteProcess, job: str) -> str:
    return str(process.request("GET", f"/jobs/{job}")["state"])


def ended(process: RemoteProcess, job: str) -> str:
    """The state of a job, once it is over."""
    return str(wait_for(lambda: (now := state(process, job)) in ("FINISHED", "FAILED", "CANCELED") and now))


def output(process: RemoteProcess, job: str) -> str:
    return process.exchange("GET", f"/jobs/{job}/output")[1].decode()


class TestJobsSideBySide:
    def test_one_fails_one_is_cancelled_and_the_others_do_not_notice(self, process: RemoteProcess) -> None:
        fails, finishes = submit(process, "fail"), submit(process, "finish", parallelism_default="3")
        runs, cancelled = submit(process, "run"), submit(process, "run")
        assert ended(process, fails) == "FAILED"
        assert ended(process, finishes) == "FINISHED"
        wait_for(lambda: state(process, cancelled) == "RUNNING")
        process.request("PATCH", f"/jobs/{cancelled}", mode="cancel")
        assert ended(process, cancelled) == "CANCELED"
        wait_for(lambda: "\n5\n" in output(process, runs) or "> 5\n" in output(process, runs))
        states = {one["jid"]: one["state"] for one in process.request("GET", "/jobs/overview")["jobs"]}
        assert states == {fails: "FAILED", finishes: "FINISHED", runs: "RUNNING", cancelled: "CANCELED"}
        # each with its own settings and output
        assert "parallelism 3" in output(process, finishes)
        assert "parallelism 3" not in output(process, runs)
        # what is over is known in full
        entries = process.request("GET", f"/jobs/{fails}/exceptions")["exceptionHistory"]["entries"]
        assert "ZeroDivisionError" in entries[0]["stacktrace"]
        counts = process.request("GET", "/overview")
        assert [counts[f"jobs-{each}"] for each in ("running", "finished", "cancelled", "failed")] == [1, 1, 1, 1]

    def test_a_program_that_submits_nothing_has_failed_for_the_reason_it_prints(
        self, process: RemoteProcess, tmp_path: Path
    ) -> None:
        broken = tmp_path / "broken.py"
        broken.write_text("import nothing_of_that_name\n")
        jar = process.request("POST", "/jars/register", {"path": str(broken)})["filename"]
        job = process.request("POST", f"/jars/{jar}/run")["jobid"]
        assert ended(process, job) == "FAILED"
        entries = process.request("GET", f"/jobs/{job}/exceptions")["exceptionHistory"]["entries"]
        assert "No module named 'nothing_of_that_name'" in entries[0]["stacktrace"]
        with pytest.raises(RequestRefusedError, match="is over: FAILED"):
            process.request("PATCH", f"/jobs/{job}", mode="cancel")


class TestMetrics:
    def test_prometheus_finds_all_running_jobs_in_one_answer(self, process: RemoteProcess) -> None:
        running = {submit(process, "run"), submit(process, "run")}
        finished = submit(process, "finish")
        assert ended(process, finished) == "FINISHED"
        wait_for(lambda: {state(process, job) for job in running} == {"RUNNING"})
        status, text = raw(process, "/metrics", Authorization=f"Bearer {process.token}")
        assert status == 200
        lines = text.splitlines()
        types = [line for line in lines if line.startswith("# TYPE ")]
        assert len(types) == len(set(types)), "Prometheus refuses a metric that is declared twice"
        assert set(re.findall(r'flink_jobmanager_job_uptime{job_id="(\w+)"', text)) == running
        assert "flink_jobmanager_numRunningJobs 2" in lines


class TestASessionThatWasKilled:
    def test_its_unfinished_jobs_run_again_under_their_ids(self) -> None:
        with opened() as (session, process):
            done, runs = submit(process, "finish"), submit(process, "run")
            assert ended(process, done) == "FINISHED"
            wait_for(lambda: state(process, runs) == "RUNNING")
        with opened() as (session, process):
            wait_for(lambda: state(process, runs) == "RUNNING")
            assert state(process, done) == "FINISHED"
            session.close(cancel=True)
        with opened() as (session, process):
            assert state(process, runs) == "CANCELED"

    def test_two_processes_cannot_have_the_same_session(self, session: SessionCluster) -> None:
        with pytest.raises(SessionError, match="runs already"):
            SessionCluster("tests", SessionDirectory.named("tests"), {"scurry.runner": "local"}).open()


class TestPrograms:
    def test_are_uploaded_listed_run_and_deleted(self, process: RemoteProcess) -> None:
        body = (
            b'--b\r\nContent-Disposition: form-data; name="jarfile"; filename="hello.py"\r\n\r\n'
            b'import sys; print("hello", sys.argv[1:])\r\n--b--\r\n'
        )
        status, content = process.exchange("POST", "/v1/jars/upload", body, "multipart/form-data; boundary=b")
        assert status == 200
        jar = json.loads(content)["filename"]
        assert [one["name"] for one in process.request("GET", "/jars")["files"]] == ["hello.py"]
        job = process.request("POST", f"/jars/{jar}/run", {"programArgsList": ["a b"]})["jobid"]
        assert ended(process, job) == "FINISHED"
        assert output(process, job) == "hello ['a b']\n"
        process.request("DELETE", f"/jars/{jar}")
        assert process.request("GET", "/jars")["files"] == []

    @pytest.mark.parametrize("name", ["job.jar", "../.py", ".py", "program"])
    def test_of_other_kinds_are_refused(self, name: str, session: SessionCluster) -> None:
        with pytest.raises(SessionError, match="is no program"):
            session.directory.add_program(name, b"", 0)

    def test_that_do_not_exist_are_not_run(self, process: RemoteProcess) -> None:
        with pytest.raises(RequestRefusedError, match="has no program x.py"):
            process.request("POST", "/jars/x.py/run")
        with pytest.raises(RequestRefusedError, match="upload the program"):
            process.request("POST", "/jars/register", {"path": "/nowhere/x.py"})

    def test_two_jobs_cannot_have_one_id(self, session: SessionCluster) -> None:
        program = session.directory.register_program(PROGRAM, 0)
        job_id = session.submit(program, arguments=["finish"], configuration={})
        with pytest.raises(ArgumentError, match="already"):
            session.submit(program, arguments=["finish"], configuration={}, job_id=job_id)


class TestCommands:
    def test_a_detached_run_prints_the_id_at_once(
        self, process: RemoteProcess, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert run_in_session("tests", PROGRAM, ["finish"], {}, detached=True) == 0
        job = capfd.readouterr().out.strip()
        assert ended(process, job) == "FINISHED"

    def test_an_attached_one_prints_what_the_program_prints_and_fails_with_it(
        self, process: RemoteProcess, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert run_in_session("tests", PROGRAM, ["fail"], {}, detached=False) == 1
        printed = capfd.readouterr()
        assert "ZeroDivisionError" in printed.err
        assert "ZeroDivisionError" not in printed.out
        assert "parallelism" in printed.out
        assert "parallelism" not in printed.err

    def test_each_stream_of_a_program_stays_what_it_is(
        self, process: RemoteProcess, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        program = tmp_path / "prints.py"
        program.write_text("import sys\nfor n in range(3):\n    print(n)\n    print('e', n, file=sys.stderr)\n")
        assert run_in_session("tests", program, [], {}, detached=False) == 0
        printed = capfd.readouterr()
        assert printed.out == "0\n1\n2\n"
        assert "e 0\ne 1\ne 2\n" in printed.err

    def test_an_attached_one_goes_on_after_its_first_job_and_fails_with_the_program(
        self, process: RemoteProcess, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert run_in_session("tests", PROGRAM, ["twice"], {}, detached=False) == 1
        printed = capfd.readouterr()
        assert "30" in printed.out
        assert "after both" in printed.err
        jobs = process.request("GET", "/jobs/overview")["jobs"]
        assert {job["name"]: job["state"] for job in jobs} == {"twice": "FINISHED", "the second": "FINISHED"}
        first = next(job["jid"] for job in jobs if job["name"] == "twice")
        assert process.request("GET", f"/applications/{first}")["status"] == "FAILED"
        applications = process.request("GET", "/applications/overview")["applications"]
        assert {one["name"]: one["status"] for one in applications} == {"twice": "FAILED", "the second": "FINISHED"}

    def test_names_of_sessions_that_do_not_run_say_what_does(self, session: SessionCluster) -> None:
        with pytest.raises(SessionError, match="there are tests"):
            find_session("test")

    def test_names_that_are_no_directories_are_refused(self) -> None:
        with pytest.raises(ConfigError, match="cannot be called"):
            SessionDirectory.named("../elsewhere")


class TestAccess:
    PATHS = (
        "/events?path=/jobs",
        "/jobs",
        "/v1/jobs/overview",
        "/jars",
        "/jars/upload",
        "/config",
        "/nothing",
        "/cluster",
    )

    @pytest.mark.parametrize("path", PATHS)
    def test_every_path_needs_the_token(self, path: str, process: RemoteProcess) -> None:
        assert raw(process, path)[0] == 401
        assert raw(process, path, Authorization="Bearer wrong")[0] == 401

    @pytest.mark.parametrize("path", PATHS)
    def test_without_tokens_web_pages_are_refused_still(self, path: str) -> None:
        with opened(no_token=True) as (_, process):
            assert raw(process, path, Host="rebound.example:80")[0] == 403
            assert raw(process, path, Origin="http://elsewhere.example")[0] == 403
            assert raw(process, path, Sec_Fetch_Site="cross-site")[0] == 403

    def test_the_page_holds_no_data_and_needs_none(self, process: RemoteProcess) -> None:
        assert raw(process, "/")[0] == 200
        assert raw(process, "/", Authorization="Bearer wrong")[0] == 401

    def test_without_tokens_anyone_of_this_machine_is_let_in(self) -> None:
        with opened(no_token=True) as (_, process):
            assert raw(process, "/jobs") == (200, '{"jobs":[]}')

    def test_other_machines_are_not_let_in_without_token(self) -> None:
        with pytest.raises(ConfigError, match="--no-token is for 127.0.0.1"):
            SessionEndpoint(RestSettings("0.0.0.0", (0,), "here", "a-token-that-only-tests-use"), no_token=True)

    def test_larger_bodies_than_programs_have_are_refused(self, process: RemoteProcess) -> None:
        address = urlsplit(process.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
        connection.putrequest("POST", "/jars/upload")
        connection.putheader("Authorization", f"Bearer {process.token}")
        connection.putheader("Content-Length", str(1 << 30))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()
