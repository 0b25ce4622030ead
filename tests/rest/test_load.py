"""A job whose endpoint is flooded goes on as before: its batches take as long, and its memory does not grow."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scurry.rest.client import RemoteProcess
from scurry.rest.registry import registered_jobs, token_of
from support.faults.job_processes import environment
from support.rest.flood import Flood, random_requests

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

PROGRAM = Path(__file__).parents[1] / "session" / "programs" / "job.py"
#: Seconds that batches are watched without and with the load, each time.
WATCHED = float(os.environ.get("SCURRY_LOAD_SECONDS", "30"))


def test_batches_take_as_long_and_memory_is_bounded(tmp_path: Path) -> None:
    variables = {**environment(), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    options = ["-D", "execution.checkpointing.interval=500ms", "-D", "scurry.rest=on", "-p", "1"]
    with open(tmp_path / "out", "wb") as out:
        command = [sys.executable, "-m", "scurry", "run", *options, str(PROGRAM), "run"]
        job = subprocess.Popen(command, env=variables, stdout=out, stderr=out)
    try:
        process, job_id = found(job)
        batches(process, job_id, 20)
        without: list[float] = []
        loaded: list[float] = []
        requests = random_requests(process, job_id)
        memory = resident(job.pid)
        for _ in range(3):  # in turns, as machines have moods
            without += batches(process, job_id, WATCHED)
            with Flood(process, requests) as flood:
                loaded += batches(process, job_id, WATCHED)
            assert flood.answers.total() > 5 * WATCHED
            assert [status for status in flood.answers if status >= 500] == []
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


def resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
