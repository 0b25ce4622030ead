"""The registry of running jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scurry.common import JobStatus
from scurry.common._process.directories import cache_directory
from scurry.rest.registry import JobEntry, register, registered_jobs
from support.rest.fake_jobs import FakeJob, served


def entry(number: int = 1, pid: int | None = None, started_ms: int = 0) -> JobEntry:
    return JobEntry(f"{number:032x}", f"job {number}", pid or os.getpid(), "http://127.0.0.1:1", started_ms)


def pid_of_a_dead_process() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_jobs_are_listed_the_oldest_first() -> None:
    register(entry(1, started_ms=2000))
    register(entry(2, started_ms=1000))
    assert [one.name for one in registered_jobs()] == ["job 2", "job 1"]


def test_a_removed_job_is_not_listed() -> None:
    register(entry()).remove()
    assert registered_jobs() == []


def test_what_a_dead_process_left_is_removed() -> None:
    file = register(entry(pid=pid_of_a_dead_process())).file
    assert registered_jobs() == []
    assert not file.exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells when a process started")
def test_another_process_of_the_same_pid_is_not_the_job() -> None:
    file = register(entry()).file
    file.write_text(json.dumps({**json.loads(file.read_text()), "process_started": "1"}))
    assert registered_jobs() == []


def test_jobs_of_another_machine_in_a_shared_home_are_left_alone() -> None:
    file = register(entry(pid=pid_of_a_dead_process())).file
    file.write_text(json.dumps({**json.loads(file.read_text()), "host": "elsewhere"}))
    assert registered_jobs() == []
    assert file.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"id": 1}', "\ud800"])
def test_damaged_files_hide_no_other_job(content: str, own_registry: Path) -> None:
    register(entry())
    (own_registry / "damaged.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    assert [one.name for one in registered_jobs()] == ["job 1"]


def test_without_a_session_directory_the_cache_directory_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    assert register(entry()).file.is_relative_to(os.environ["XDG_CACHE_HOME"])
    monkeypatch.undo()


def test_a_job_is_registered_while_it_runs(job: FakeJob) -> None:
    with served(job) as process:
        assert [(one.id, one.url) for one in registered_jobs()] == [(str(job.id), process.url)]
        job.end(JobStatus.FINISHED)
        assert registered_jobs() == []


def test_other_suites_that_run_meanwhile_register_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A test that has a directory of its own finds no job of a test that has none."""
    monkeypatch.undo()  # as in a test that sets nothing
    registration = register(entry())
    try:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        assert registration.file not in set(cache_directory().rglob("*.json"))
        assert entry().id not in {each.id for each in registered_jobs()}
    finally:
        registration.remove()
