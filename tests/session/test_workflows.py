"""Workflows of a session: which process runs a program, and times that have no run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.common._process.schedule import Schedule
from scurry.rest.session.interface import SessionJob
from scurry.rest.session.workflows import Workflow, Workflows
from support.session.shell import wait_for


class Runs:
    """Stands for the jobs of a session: each is over when the test says so."""

    def __init__(self) -> None:
        self.jobs: dict[str, SessionJob] = {}
        self.processes: list[str] = []
        self.prepared: list[tuple[str, str]] = []
        self.ended: list[str] = []
        self.goes_on = threading.Event()

    def submit(self, program: Any, *, job_id: str | None = None, process: str = "", **_: Any) -> str:
        assert job_id is not None
        self.jobs[job_id] = SessionJob(job_id, "", 0, None, None, None, None)
        self.processes.append(process)
        return job_id

    def await_end(self, job_id: str, seconds: float) -> bool:
        if job_id not in self.jobs:
            return True
        if not self.goes_on.wait(seconds):
            return False
        self.jobs[job_id] = SessionJob(job_id, "", 0, int(time.time() * 1000), "FINISHED", None, None)
        return True

    def job(self, job_id: str) -> SessionJob | None:
        return self.jobs.get(job_id)

    def forget(self, job_id: str) -> None: ...

    def prepare_process(self, name: str, directory: str) -> None:
        self.prepared.append((name, directory))

    def end_process(self, name: str) -> None:
        self.ended.append(name)


class Made:
    """Workflows of a directory, and their runs."""

    def __init__(self, home: Path) -> None:
        (home / "workflows").mkdir()
        self.program = home / "program.sql"
        self.program.write_text("SELECT 1;")
        self.runs = Runs()
        directory: Any = SimpleNamespace(workflows=home / "workflows")
        self.workflows = Workflows(self.runs, directory)

    def create(self, schedule: Schedule, lasting: bool = True, late_ms: int = 0) -> Workflow:
        at = int(time.time() * 1000) - late_ms
        return self.workflows.create("name", str(self.program), schedule, {}, at, lasting)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    made = Made(tmp_path)
    yield made
    made.runs.goes_on.set()
    made.workflows.close()


@pytest.mark.parametrize(
    ("schedule", "lasting", "shares"),
    [
        (Schedule(10, "MINUTE"), True, True),
        (Schedule(10, "MINUTE"), False, False),
        (Schedule(12, "MINUTE"), True, False),  # nothing waits that long
    ],
)
def test_runs_that_are_not_far_apart_share_a_process(
    made: Made, schedule: Schedule, lasting: bool, shares: bool
) -> None:
    workflow = made.create(schedule, lasting, late_ms=2 * 3600_000)
    wait_for(lambda: made.runs.processes)
    assert made.runs.processes == [workflow.id if shares else ""]
    assert made.runs.prepared == ([(workflow.id, str(made.program.parent))] if shares else [])


def test_suspending_ends_the_process(made: Made) -> None:
    made.runs.goes_on.set()
    workflow = made.create(Schedule(1, "SECOND"))
    assert workflow.described()["next_ms"] > workflow.done_ms
    assert made.workflows.suspend(workflow.id).described()["next_ms"] is None
    assert made.runs.ended == [workflow.id]


def test_times_without_a_run_are_counted(made: Made, caplog: pytest.LogCaptureFixture) -> None:
    workflow = made.create(Schedule(1, "SECOND"), late_ms=2000)
    wait_for(lambda: made.runs.processes)
    begun = time.time()
    wait_for(lambda: time.time() > begun + 2.5)
    made.runs.goes_on.set()
    wait_for(lambda: len(made.runs.processes) > 1)
    found = made.workflows.find(workflow.id)
    assert found is not None and found.skipped >= 1
    assert "the last run took longer than its interval" in caplog.text
