"""A job whose endpoint is flooded goes on as before: its batches take as long, and its memory does not grow."""

from __future__ import annotations

import http.client
import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scurry.rest.client import RemoteProcess
from scurry.rest.lookup import token_of
from scurry.rest.registry import registered_jobs
from support.faults.endless_job import ENVIRONMENT

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

PROGRAM = Path(__file__).parents[1] / "session" / "programs" / "job.py"
CLIENTS = 200
#: Seconds that batches are watched without and with the load, each time.
WATCHED = float(os.environ.get("SCURRY_LOAD_SECONDS", "30"))


class Flood:
    """Clients in threads of this process, until the end of a `with` block: each goes on as the answers come."""

    def __init__(self, process: RemoteProcess, paths: list[str]) -> None:
        self._process, self._paths = process, paths
        self._over = threading.Event()
        self.answered = 0
        kinds: Sequence[Callable[[random.Random], None]] = [self._ask] * 8 + [self._dawdle, self._send_much]
        self._threads = [
            threading.Thread(target=self._run, args=(kinds[number % len(kinds)], number)) for number in range(CLIENTS)
        ]

    def __enter__(self) -> Flood:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)

    def _run(self, once: Callable[[random.Random], None], number: int) -> None:
        numbers = random.Random(number)
        while not self._over.is_set():
            try:
                once(numbers)
            except (OSError, http.client.HTTPException):
                self._over.wait(0.1)  # refused, as dawdlers are

    def _ask(self, numbers: random.Random) -> None:
        """A request of any path, sensible or not, with the token or without."""
        path = numbers.choice(self._paths)
        if numbers.random() < 0.2:
            path = "/" + "".join(chr(numbers.randrange(33, 127)) for _ in range(numbers.randrange(200)))
        token = self._process.token if numbers.random() < 0.8 else "wrong"
        connection = http.client.HTTPConnection(urlsplit(self._process.url).netloc, timeout=60)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status < 500, (path, answer.status)
            self.answered += 1
        finally:
            connection.close()

    def _dawdle(self, numbers: random.Random) -> None:
        """A head that comes byte by byte."""
        address = urlsplit(self._process.url)
        with socket.create_connection((address.hostname or "", address.port or 0), timeout=60) as opened:
            while not self._over.is_set():
                opened.sendall(b"G")
                self._over.wait(numbers.random())

    def _send_much(self, numbers: random.Random) -> None:
        """A body of a GiB, as much of it as is taken."""
        address = urlsplit(self._process.url)
        with socket.create_connection((address.hostname or "", address.port or 0), timeout=60) as opened:
            head = f"POST /jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._process.token}\r\n"
            opened.sendall(f"{head}Content-Length: {1 << 30}\r\n\r\n".encode())
            while not self._over.is_set():
                opened.sendall(b"x" * 65536)


def test_batches_take_as_long_and_memory_is_bounded(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    options = ["-D", "execution.checkpointing.interval=500ms", "-D", "scurry.rest=on", "-p", "1"]
    with open(tmp_path / "out", "wb") as out:
        command = [sys.executable, "-m", "scurry", "run", *options, str(PROGRAM), "run"]
        job = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    try:
        process, job_id = found(job)
        batches(process, job_id, 20)
        without: list[float] = []
        loaded: list[float] = []
        paths = all_paths(process, job_id)
        memory = resident(job.pid)
        for _ in range(3):  # in turns, as machines have moods
            without += batches(process, job_id, WATCHED)
            with Flood(process, paths) as flood:
                loaded += batches(process, job_id, WATCHED)
            assert flood.answered > 5 * WATCHED
        grown = resident(job.pid) - memory
    finally:
        job.kill()
        job.wait()
    ratio = statistics.median(loaded) / statistics.median(without)
    print(f"batches without load {statistics.median(without):.0f} ms, with {statistics.median(loaded):.0f} ms: "
          f"{ratio:.2f}; {grown >> 20} MiB more")  # fmt: skip
    assert ratio <= 1.2
    assert grown < 128 << 20


def found(job: subprocess.Popen[bytes]) -> tuple[RemoteProcess, str]:
    """The endpoint and the id of the job, once its first batch is committed."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert job.poll() is None
        for entry in registered_jobs():
            process = RemoteProcess(entry.url, token_of(entry), timeout=60)
            if process.request("GET", f"/jobs/{entry.id}/checkpoints")["counts"]["completed"] > 0:
                return process, entry.id
        time.sleep(0.2)
    raise AssertionError("no batch was committed")


def batches(process: RemoteProcess, job_id: str, seconds: float) -> list[float]:
    """The durations in ms of the batches that begin within a time."""
    begun = time.time() * 1000
    time.sleep(seconds)
    history = process.request("GET", f"/jobs/{job_id}/checkpoints")["history"]
    return [one["end_to_end_duration"] for one in history if one["trigger_timestamp"] > begun]


def all_paths(process: RemoteProcess, job_id: str) -> list[str]:
    """What the endpoint answers to GET, about this job and about one that there is not."""
    paths = process.request("GET", "/openapi.json")["paths"]
    readable = [path for path, methods in paths.items() if "get" in methods]
    vertex = process.request("GET", f"/jobs/{job_id}")["vertices"][0]["id"]
    return [
        path.replace("{jobid}", job).replace("{vertexid}", vertex).replace("{", "").replace("}", "")
        for path in readable
        for job in (job_id, job_id, "0" * 32)
    ]


def resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
