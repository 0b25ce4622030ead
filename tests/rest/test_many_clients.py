"""Clients that crowd, dawdle or talk nonsense: honest ones are answered all the same, and errors are JSON."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from urllib.parse import urlsplit

import pytest

import scurry.rest.guard
import scurry.rest.server
from scurry.rest.client import RemoteProcess
from support.rest.fake_jobs import TOKEN, FakeJob, raw, served

HEAD = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"


@contextmanager
def connection(process: RemoteProcess) -> Iterator[socket.socket]:
    address = urlsplit(process.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=120) as opened:
        yield opened


@contextmanager
def strangers(process: RemoteProcess, count: int) -> Iterator[list[socket.socket]]:
    """Connections that say nothing."""
    with ExitStack() as stack:
        yield [stack.enter_context(connection(process)) for _ in range(count)]


def answer(opened: socket.socket) -> tuple[int, list[str]]:
    """Status and errors of what a connection is told before it is closed."""
    told = b""
    while part := opened.recv(65536):
        told += part
    head, _, body = told.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower()
    return int(head.split()[1]), json.loads(body)["errors"]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time limits that a test can wait for."""
    monkeypatch.setattr(scurry.rest.server, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(scurry.rest.guard, "BODY_SECONDS", 0.5)


@pytest.mark.parametrize("count", [64, 150])
def test_connections_that_say_nothing_do_not_keep_a_client_out(count: int, process: RemoteProcess) -> None:
    with strangers(process, count):
        for _ in range(3):
            assert process.request("GET", "/jobs")["jobs"]


def test_of_200_clients_with_5_requests_each_none_loses_one(process: RemoteProcess) -> None:
    def ask(_: int) -> int:
        return sum(len(process.request("GET", "/jobs")["jobs"]) for _ in range(5))

    with strangers(process, 64), ThreadPoolExecutor(200) as pool:
        assert sum(pool.map(ask, range(200))) == 1000


def test_100_questions_for_state_at_once_are_all_answered(job: FakeJob, process: RemoteProcess) -> None:
    job.state = {number: number * number for number in range(100)}

    def ask(number: int) -> int:
        value: int = process.request("GET", f"/jobs/{job.id}/state/sums/sum", key=number)["value"]
        return value

    with ThreadPoolExecutor(100) as pool:
        assert list(pool.map(ask, range(100))) == list(job.state.values())


class TestPace:
    """A job and its endpoint share a process."""

    def test_beyond_a_number_per_second_requests_wait_and_none_is_lost(
        self, job: FakeJob, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(scurry.rest.guard, "PER_SECOND", 20.0)
        monkeypatch.setattr(scurry.rest.guard, "BURST", 5)
        with served(job) as process, ThreadPoolExecutor(25) as pool:
            began = time.monotonic()
            answers = list(pool.map(lambda _: len(process.request("GET", "/jobs")["jobs"]), range(25)))
            assert answers == [1] * 25
            assert time.monotonic() - began > 0.9  # 5 at once, 20 more in a second

    def test_those_without_the_token_do_not_let_a_client_wait(
        self, job: FakeJob, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(scurry.rest.guard, "PER_SECOND", 0.001)
        monkeypatch.setattr(scurry.rest.guard, "BURST", 5)
        with served(job) as process:
            assert [raw(process, "/jobs", Authorization="Bearer wrong")[0] for _ in range(5)] == [401] * 5
            assert len([process.request("GET", "/jobs") for _ in range(5)]) == 5


@pytest.mark.usefixtures("hasty")
class TestTimeLimits:
    def test_a_connection_that_says_nothing_is_closed(self, process: RemoteProcess) -> None:
        with connection(process) as opened:
            status, errors = answer(opened)
        assert status == 408 and "no complete request with a token within 0.5 s" in errors[0]

    def test_so_is_one_whose_head_comes_byte_by_byte(self, process: RemoteProcess) -> None:
        with connection(process) as opened:
            with pytest.raises(OSError):  # reset, or a broken pipe, long before the head is complete
                for byte in (f"GET /jobs HTTP/1.1\r\n{HEAD}" + "X-Slow: 1\r\n" * 1000).encode():
                    opened.sendall(bytes([byte]))
                    time.sleep(0.01)

    def test_requests_without_the_token_do_not_prolong_it(self, process: RemoteProcess) -> None:
        with connection(process) as opened:
            deadline = time.monotonic() + 60
            with pytest.raises(OSError):  # reset, or a broken pipe
                while time.monotonic() < deadline:
                    opened.sendall(b"GET /jobs HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    if not opened.recv(65536):
                        raise ConnectionError

    def test_a_body_that_does_not_come_is_given_up(self, job: FakeJob, process: RemoteProcess) -> None:
        with connection(process) as opened:
            opened.sendall(f"POST /jobs/{job.id}/stop HTTP/1.1\r\n{HEAD}Content-Length: 20\r\n\r\n{{".encode())
            status, errors = answer(opened)
        assert status == 408 and "body" in errors[0] and job.asked == []

    def test_a_connection_with_the_token_may_last_longer_than_the_limit(
        self, process: RemoteProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(scurry.rest.server, "HEAD_SECONDS", 1.0)
        address = urlsplit(process.url)
        with closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)) as opened:
            began = time.monotonic()
            while time.monotonic() - began < 1.2:
                opened.request("GET", "/jobs", headers={"Authorization": f"Bearer {TOKEN}"})
                assert json.loads(opened.getresponse().read())["jobs"]
                time.sleep(0.01)


class TestRefusals:
    @pytest.mark.parametrize(
        "sent",
        [b"\0\xff\n\n", b"GET /" + b"x" * 40_000, b"GET / HTTP/1.1\r\nno colon\r\n\r\n"],
    )
    def test_what_is_no_http_is_refused_in_json(self, sent: bytes, process: RemoteProcess) -> None:
        with connection(process) as opened:
            opened.sendall(sent)
            status, errors = answer(opened)
        assert status == 400 and "no HTTP/1.1 request" in errors[0]

    def test_a_huge_body_is_neither_kept_nor_read_to_its_end(self, process: RemoteProcess) -> None:
        size = 1 << 30
        with connection(process) as opened:
            opened.sendall(f"POST /jobs HTTP/1.1\r\n{HEAD}Content-Length: {size}\r\n\r\n".encode())
            sent, block = 0, b"x" * 65536
            with pytest.raises(OSError):  # reset, or a broken pipe
                while sent < size:
                    opened.sendall(block)
                    sent += len(block)
            assert sent < 1 << 25

    def test_a_failure_of_the_application_is_json(self, job: FakeJob, process: RemoteProcess) -> None:
        job.refusal = RuntimeError("it broke")
        with connection(process) as opened:
            opened.sendall(f"GET /jobs/{job.id}/state/a/b?key=1 HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n".encode())
            assert answer(opened) == (500, ["RuntimeError: it broke"])
