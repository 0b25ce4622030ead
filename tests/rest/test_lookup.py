"""Which job is meant, and what is said when there is none."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.common import JobID
from scurry.errors import JobNotFoundError, JobUnreachableError, RequestRefusedError
from scurry.rest.client import RemoteJob, RemoteProcess
from scurry.rest.registry import find_job, running_jobs
from scurry.rest.settings import RestSettings
from support.rest.fake_jobs import TOKEN, FakeExecution, FakeJob, plan_of, served


def fake(name: str, first_digits: str) -> FakeJob:
    return FakeJob(FakeExecution(plan_of(name)), JobID(first_digits.ljust(32, "0")))


@pytest.fixture
def three_jobs() -> Iterator[None]:
    with served(fake("orders", "ab1")), served(fake("orders", "ab2")), served(fake("flights", "cd")):
        yield


@pytest.mark.usefixtures("three_jobs")
class TestNames:
    @pytest.mark.parametrize("meant", ["flights", "c", "cd".ljust(32, "0")])
    def test_a_job_has_an_id_its_beginning_and_a_name(self, meant: str) -> None:
        assert find_job(meant).name == "flights"

    @pytest.mark.parametrize("meant", ["orders", "ab"])
    def test_what_may_be_several_jobs_is_not_guessed(self, meant: str) -> None:
        with pytest.raises(JobNotFoundError, match="may be any of 2 jobs") as error:
            find_job(meant)
        assert "ab1".ljust(32, "0") in str(error.value)

    def test_a_misspelt_name_is_recognised(self) -> None:
        with pytest.raises(JobNotFoundError, match=r"did you mean 'flights' \(cd0"):
            find_job("flight")

    def test_something_else_is_not(self) -> None:
        with pytest.raises(JobNotFoundError, match="`scurry list` shows"):
            find_job("zzzzzzzz")


def test_without_jobs_there_is_nothing_to_mean() -> None:
    with pytest.raises(JobNotFoundError, match="no job is running"):
        find_job("orders")


class TestUrls:
    def test_a_job_elsewhere_is_found_by_its_url(self, job: FakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
        with served(job, RestSettings("127.0.0.1", (0,), "127.0.0.1", TOKEN)) as process:
            monkeypatch.setenv("SCURRY_REST_TOKEN", TOKEN)
            address = process.url.removeprefix("http://")
            assert find_job("orders", address).id == str(job.id)

    def test_a_wrong_token_is_said_to_be_one(self, process: RemoteProcess) -> None:
        with pytest.raises(RequestRefusedError, match="not the one in SCURRY_REST_TOKEN"):
            RemoteProcess(process.url, "wrong").request("GET", "/jobs")

    def test_so_is_a_missing_one(self, process: RemoteProcess) -> None:
        with pytest.raises(RequestRefusedError, match="has to be in SCURRY_REST_TOKEN"):
            RemoteProcess(process.url).request("GET", "/jobs")

    def test_nobody_there_is_an_error_of_its_own(self) -> None:
        with pytest.raises(JobUnreachableError, match="nothing answers at http://127.0.0.1:1"):
            running_jobs("127.0.0.1:1")

    def test_another_server_is_no_job(self) -> None:
        server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
        threading.Thread(target=server.handle_request, daemon=True).start()
        with pytest.raises(JobUnreachableError, match="no job of scurry"):
            running_jobs(f"127.0.0.1:{server.server_port}")
        server.server_close()


def test_the_token_of_a_job_is_found_where_its_file_is(tmp_path: Path, job: FakeJob) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    with served(job, RestSettings("127.0.0.1", (0,), "127.0.0.1", TOKEN, token_file=str(file))):
        assert find_job("orders").details()["state"] == "RUNNING"


def test_a_job_that_goes_while_it_is_waited_for_is_reported(job: FakeJob, process: RemoteProcess) -> None:
    class Gone(RemoteProcess):
        def request(self, method: str, path: str, body: object = None, **query: object) -> object:
            if method == "GET":
                raise JobUnreachableError("connection refused")
            return super().request(method, path, body, **query)

    remote = RemoteJob(str(job.id), "orders", Gone(process.url, process.token))
    with pytest.raises(JobUnreachableError, match="has gone before it said what became of the savepoint"):
        remote.savepoint(None)
