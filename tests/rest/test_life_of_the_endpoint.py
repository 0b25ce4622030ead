"""What an endpoint costs, and when it ends."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import scurry.rest.server
from scurry.common import CompletableFuture, JobStatus
from scurry.errors import JobUnreachableError
from scurry.rest.client import RemoteProcess
from scurry.rest.job import Operations, ServedJob
from scurry.rest.server import JobServer
from support import TESTS
from support.clock import FakeTime
from support.rest.fake_jobs import FakeJob, as_job, served

SOURCE = str(Path(scurry.__file__).parent.parent)


def python(code: str, timeout: float = 60) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout,
        env={"PYTHONPATH": f"{SOURCE}:{TESTS}", "PATH": "", "HOME": "/tmp"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def threads(beginning: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(beginning)]


def wait_until_gone(url: str) -> None:
    address = urlsplit(url)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            socket.create_connection((address.hostname or "", address.port or 0), timeout=1).close()
        except (ConnectionRefusedError, ConnectionResetError):
            return
        time.sleep(0.02)
    pytest.fail(f"{url} still listens")


def test_until_somebody_connects_no_web_framework_is_imported() -> None:
    loaded = python("""
        import sys
        from support.rest.fake_jobs import FakeJob, served, raw
        web = {"fastapi", "starlette", "uvicorn", "asyncio"}
        with served(FakeJob()) as process:
            print(sorted(web & set(sys.modules)))
            raw(process)
            print(sorted(web & set(sys.modules)))
    """)
    assert loaded == "[]\n['asyncio', 'fastapi', 'starlette', 'uvicorn']\n"


def test_an_unused_endpoint_ends_with_its_job(job: FakeJob) -> None:
    with served(job) as process:
        assert len(threads("scurry-rest")) == 2  # one waits for clients, one looks at the metrics
        job.end(JobStatus.FINISHED)
        wait_until_gone(process.url)


def test_a_used_endpoint_ends_with_its_job(job: FakeJob) -> None:
    with served(job) as process:
        process.request("GET", "/jobs")
        job.end(JobStatus.FINISHED)
        wait_until_gone(process.url)


def test_a_job_that_is_over_waits_for_clients_to_hear_of_their_savepoints(job: FakeJob) -> None:
    with served(job) as process:
        trigger = process.request("POST", f"/jobs/{job.id}/stop", {})["request-id"]
        job.savepoint.set_result("/s/savepoint-1")
        job.end(JobStatus.FINISHED)
        found = process.request("GET", f"/jobs/{job.id}/savepoints/{trigger}")
        assert found["operation"] == {"location": "/s/savepoint-1"}
        wait_until_gone(process.url)


@pytest.fixture
def fake_time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """The clock of servers."""
    time = FakeTime()
    monkeypatch.setattr(scurry.rest.server, "time", time)
    return time


class TestAServerWhoseJobIsOver:
    @pytest.fixture
    def operations(self, fake_time: FakeTime) -> Operations:
        return Operations(fake_time)

    @pytest.fixture
    def server(self, job: FakeJob, operations: Operations) -> JobServer:
        over = threading.Event()
        over.set()
        served_job = ServedJob(as_job(job), 0)
        served_job.operations = operations
        return JobServer(served_job, None, over)

    def ends(self, server: JobServer) -> bool:
        return asyncio.run(server.on_tick(1))

    def test_ends_when_clients_have_their_results(
        self, server: JobServer, operations: Operations, fake_time: FakeTime
    ) -> None:
        trigger = operations.start("savepoint", CompletableFuture)
        assert not self.ends(server)
        fake_time.sleep(9)
        assert not self.ends(server)
        operation = operations.get("savepoint", trigger)
        assert operation is not None
        operation.delivered = True
        assert self.ends(server)

    def test_waits_ten_seconds_at_most(self, server: JobServer, operations: Operations, fake_time: FakeTime) -> None:
        trigger = operations.start("savepoint", CompletableFuture)
        assert not self.ends(server)
        fake_time.sleep(10.1)
        operations.get("savepoint", trigger)  # a client that still polls
        assert self.ends(server)


def test_a_client_that_has_not_asked_for_long_is_not_waited_for() -> None:
    time = FakeTime()
    operations = Operations(time)
    trigger = operations.start("savepoint", CompletableFuture)
    time.sleep(10)
    assert operations.awaited(10)
    time.sleep(0.1)
    assert not operations.awaited(10)
    operations.get("savepoint", trigger)
    assert operations.awaited(10)


def test_the_end_of_the_program_waits_for_them_too() -> None:
    # The main thread ends as soon as the savepoint is there; the client, in a daemon thread, asks a second later.
    told = python("""
        import threading, time
        from support.rest.fake_jobs import FakeJob, served
        from scurry.common import JobStatus

        job = FakeJob()
        context = served(job)
        process = context.__enter__()
        trigger = process.request("POST", f"/jobs/{job.id}/stop", {})["request-id"]

        def ask():
            time.sleep(1)
            answer = process.request("GET", f"/jobs/{job.id}/savepoints/{trigger}")
            print(answer["operation"]["location"], flush=True)

        threading.Thread(target=ask, daemon=True).start()
        job.savepoint.set_result("/s/savepoint-1")
        job.end(JobStatus.FINISHED)
    """)
    assert told == "/s/savepoint-1\n"


def test_a_program_that_leaves_its_job_behind_ends_all_the_same() -> None:
    python(
        """
        from support.rest.fake_jobs import FakeJob, served
        context = served(FakeJob())
        context.__enter__().request("GET", "/jobs")
    """,
        timeout=120,
    )


def test_a_client_that_says_nothing_keeps_nobody_waiting(job: FakeJob) -> None:
    with served(job) as process:
        address = urlsplit(process.url)
        with socket.create_connection((address.hostname or "", address.port or 0)):
            assert process.request("GET", "/jobs")["jobs"]


@pytest.mark.parametrize("sent", [b"\0\xff\n\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"x" * 100_000])
def test_garbage_does_not_end_the_server(
    sent: bytes, process: RemoteProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    address = urlsplit(process.url)
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        connection.sendall(sent)
        connection.settimeout(5)
    assert process.request("GET", "/jobs")["jobs"]
    assert capfd.readouterr().err == ""


def test_a_gone_job_is_told_from_a_wrong_answer(job: FakeJob) -> None:
    with served(job) as process:
        job.end(JobStatus.FINISHED)
        wait_until_gone(process.url)
        with pytest.raises(JobUnreachableError, match="the job is over"):
            process.request("GET", "/jobs")
