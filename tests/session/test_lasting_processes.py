"""Processes of a session that last: one after the other, programs run in them as in processes of their own."""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.rest.session import lasting_process
from scurry.rest.session.directory import Submission
from scurry.rest.session.lasting_process import LastingProcess, LastingProcesses, RunInProcess

PROGRAM = """
import os, sys, time
print(os.getpid(), sys.argv[1], flush=True)
if sys.argv[1] == "fail":
    raise ValueError("wrong")
while sys.argv[1] == "wait":
    time.sleep(0.1)
"""


class Processes:
    """Lasting processes, and what runs in them."""

    def __init__(self, home: Path) -> None:
        self.home, self.number = home, 0
        (home / "program.py").write_text(PROGRAM)
        self.connected: list[str] = []
        self.disconnected: list[str] = []
        self.over: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.lasting = LastingProcesses(self._connect, self.disconnected.append)

    def _connect(self, name: str) -> dict[str, str]:
        self.connected.append(name)
        return {}

    def begin(self, argument: str, name: str = "a") -> RunInProcess | None:
        self.number += 1
        program = str(self.home / "program.py")
        submission = Submission(f"{self.number:032x}", program, "p", 0, str(self.home), None, [argument], process=name)
        output, errors = (self.home / f"{self.number}.{kind}" for kind in ("out", "err"))
        return self.lasting.run(submission, {"scurry.runner": "local"}, output, errors, self.over.put)

    def run(self, argument: str, name: str = "a") -> tuple[int, int, str]:
        """The process, status and output of a run."""
        run = self.begin(argument, name)
        assert run is not None
        status = self.over.get(timeout=120)
        process, _, printed = run.output.read_text().partition(" ")
        assert int(process) == run.pid
        return run.pid, status, printed


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    made = Processes(tmp_path)
    yield made
    made.lasting.close()


def test_runs_of_a_name_share_a_process_also_after_one_has_failed(processes: Processes) -> None:
    first, failed, third = processes.run("one"), processes.run("fail"), processes.run("three")
    assert first[0] == failed[0] == third[0]
    assert [each[1:] for each in (first, failed, third)] == [(0, "one\n"), (1, "fail\n"), (0, "three\n")]
    assert "wrong" in (processes.home / "2.err").read_text() and "wrong" not in (processes.home / "3.err").read_text()
    assert processes.run("four", name="b")[0] != first[0]
    assert processes.connected == ["a", "b"]


def test_a_process_may_be_started_before_its_first_run(processes: Processes) -> None:
    started = processes.lasting.start("a", str(processes.home))
    assert started is not None and processes.run("one")[0] == started.pid


def test_a_process_that_was_killed_ends_its_run_and_another_does_the_next_one(processes: Processes) -> None:
    run = processes.begin("wait")
    assert run is not None
    os.kill(run.pid, signal.SIGKILL)
    assert processes.over.get(timeout=120) == -signal.SIGKILL
    assert processes.disconnected == ["a"]
    assert processes.run("next")[0] != run.pid


def test_a_process_ends_when_it_is_not_needed(processes: Processes) -> None:
    process = processes.run("one")[0]
    processes.lasting.end("a")
    assert processes.disconnected == ["a"]
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    processes.lasting.end("a")  # there is none


def test_a_process_is_replaced_after_many_runs(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting_process, "_MOST_RUNS", 2)
    found = [processes.run("run")[0] for _ in range(3)]
    assert found[0] == found[1] != found[2]


def test_there_are_only_so_many(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting_process, "MOST_LASTING", 1)
    processes.run("one")
    assert processes.begin("two", name="b") is None
    assert processes.run("three")[1] == 0


def test_a_process_ends_with_its_session(processes: Processes) -> None:
    run: Any = processes.begin("wait")
    run.process._process.stdin.close()
    assert processes.over.get(timeout=120) == 1


def test_a_run_that_a_process_gets_after_its_end_is_over(tmp_path: Path) -> None:
    gone: queue.SimpleQueue[LastingProcess] = queue.SimpleQueue()
    process = LastingProcess(str(tmp_path), {}, tmp_path / "errors", gone.put)
    process.kill()  # between the look for a process that lives and the request to it
    gone.get(timeout=120)
    over: queue.SimpleQueue[int] = queue.SimpleQueue()
    process.run(RunInProcess(process, tmp_path / "output", tmp_path / "errors", over.put), {})
    assert over.get(timeout=120) == -signal.SIGKILL
