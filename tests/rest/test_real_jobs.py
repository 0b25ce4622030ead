"""Jobs of `scurry run`, operated by commands in other processes."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

import scurry
from scurry.rest.plan_json import vertex_id

PROGRAM = Path(__file__).parent / "programs" / "counting.py"
SOURCE = str(Path(scurry.__file__).parent.parent)

RUNNERS = [
    pytest.param("local", id="local"),
    pytest.param("spark", id="spark", marks=[pytest.mark.spark, pytest.mark.in_turn]),
]


class Shell:
    """A user's shell, with a registry of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1", "XDG_RUNTIME_DIR": str(home)}

    def scurry(self, *arguments: str) -> str:
        """The output of a command that succeeds."""
        command = [sys.executable, "-m", "scurry", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def jobs(self) -> list[dict[str, Any]]:
        """What `scurry list` knows."""
        found: list[dict[str, Any]] = json.loads(self.scurry("list", "--json"))
        return found

    @contextmanager
    def running(self, *options: str) -> Iterator[subprocess.Popen[str]]:
        """The program, once it has counted something."""
        command = [sys.executable, "-m", "scurry", "run", *options, str(PROGRAM)]
        out = open(self.home / "out", "w+")
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True, env=self.environment)
        try:
            wait_for(lambda: (self.home / "out").read_text() or process.poll() is not None)
            yield process
        finally:
            process.kill()
            process.communicate()
            out.close()


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def ask(job: dict[str, Any], token: str, path: str) -> dict[str, Any]:
    """A request without any of scurry's own client."""
    address = urlsplit(job["url"])
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    connection.request("GET", f"/jobs/{job['jid']}{path}", headers={"Authorization": f"Bearer {token}"})
    answer: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def state_of_counts(job: dict[str, Any], token: str) -> list[tuple[int, int]]:
    """The bytes of state of each subtask of `counts`, and of what the latest checkpoint has written of it."""
    latest = ask(job, token, "/checkpoints")["latest"]["completed"]["id"]
    found = ask(job, token, f"/checkpoints/details/{latest}/subtasks/{vertex_id('counts')}")
    assert found["num_subtasks"] == len(found["subtasks"])
    return [(one["state_size"], one["checkpointed_size"]) for one in found["subtasks"]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    tmp_path.chmod(0o700)
    return Shell(tmp_path)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.slow
def test_a_job_is_listed_saved_rescaled_stopped_and_started_from_its_savepoint(
    runner: str, shell: Shell, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    options = ("--runner", runner, "-D", "scurry.rest=on", "-p", "2", "-D", f"scurry.log.file={log}")
    with shell.running(*options) as process:
        (job,) = shell.jobs()
        assert (job["name"], job["state"]) == ("counting", "RUNNING")

        first = shell.scurry("savepoint", "counting", str(tmp_path / "saved"))
        assert "counts" in shell.scurry("savepoint", "inspect", first)
        shell.scurry("rescale", "counting", "-p", "3")

        token = shell.scurry("token", "counting")
        checkpoints = json.loads(shell.scurry("checkpoints", "--json", "counting"))
        assert checkpoints["latest"]["completed"]["positions"]["numbers"]
        wait_for(lambda: len(state_of_counts(job, token)) == 3)
        sizes = state_of_counts(job, token)  # of the keys 0 to 3; a subtask may have none of them
        assert all(0 <= written <= size for size, written in sizes) and 0 < sum(size for size, _ in sizes) < 1000
        assert ask(job, token, "/exceptions")["exceptionHistory"]["entries"] == []
        before = ask(job, token, f"/state/counts/count?key={quote('1')}")["value"]
        vertices = ask(job, token, "")["vertices"]
        assert {vertex["parallelism"] for vertex in vertices if vertex["uid"] == "counts"} == {3}

        last = shell.scurry("stop", "-p", str(tmp_path / "saved"), job["jid"][:12])
        assert process.wait(180) == 0
        assert shell.jobs() == []
    client = "requested by a REST client at 127.0.0.1"
    told = iter(log.read_text().splitlines())
    for wanted in (
        "counting: started: STREAMING",
        f"counting: taking the savepoint {first}, {client}",
        f"counting: savepoint taken: {first} (",
        f"counting: rescaling from 2 to 3 subtasks, {client}",
        "counting: rescaled from 2 to 3 subtasks in ",
        f"counting: stopping with a savepoint, {client}",
        f"counting: savepoint taken: {last} (",
        "counting: finished after ",
    ):
        assert any(wanted in line for line in told), log.read_text()

    with shell.running(*options, "-s", last) as process:
        (job,) = shell.jobs()
        after = ask(job, shell.scurry("token", "counting"), "/state/counts/count?key=1")["value"]
        assert after > before > 0
        shell.scurry("cancel", "counting")
        assert process.wait(180) == 1
        assert shell.jobs() == []
