"""A session under a supervisor, of which this or that process is killed: its jobs come back by themselves."""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import scurry
from scurry.cli.sessions import find_session
from scurry.errors import ScurryError
from scurry.rest.client import RemoteJob, RemoteProcess
from support.faults.standalone_cluster import wait_until
from support.faults.supervisor import Supervisor

pytestmark = [
    pytest.mark.spark,
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

PROGRAM = Path(__file__).parent / "programs" / "job.py"
#: Seconds in which all jobs of a session are back, on a machine that has other things to do.
PATIENCE = 300


class Session:
    """A supervised session, and what its jobs print."""

    def __init__(self, home: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
        command = ["scurry", "session", "start", "-D", "execution.checkpointing.interval=1s"]
        self.home = home
        self.supervisor = Supervisor([sys.executable, "-m", *command], home / "log", environment)

    def process(self) -> RemoteProcess:
        """The endpoint of whatever process the session has now."""
        found: list[RemoteProcess] = []

        def look() -> bool:
            try:
                found.append(find_session("default"))
            except ScurryError:
                return False
            return True

        wait_until(look, "the session can be found", PATIENCE, while_runs=self.supervisor)
        return found[-1]

    def submit(self, what: str, **settings: str) -> str:
        process = self.process()
        jar = process.request("POST", "/jars/register", {"path": str(PROGRAM)})["filename"]
        body = {"programArgsList": [what], "flinkConfiguration": settings}
        return str(process.request("POST", f"/jars/{jar}/run", body)["jobid"])

    def job(self, job_id: str) -> RemoteJob:
        return RemoteJob(job_id, "run", self.process())

    def states(self) -> dict[str, str]:
        """Job id -> state; empty while the session does not answer."""
        try:
            answer = self.process().request("GET", "/jobs/overview")
        except ScurryError:
            return {}
        return {one["jid"]: one["state"] for one in answer["jobs"]}

    def runs_of_counts(self, job_id: str) -> list[list[int]]:
        """What a counting job has printed, process by process."""
        file = self.home / "state" / "scurry" / "sessions" / "default" / "jobs" / f"{job_id}.log"
        runs: list[list[int]] = []
        for line in file.read_text().splitlines() if file.exists() else ():
            if line.startswith("parallelism"):
                runs.append([])
            elif re.fullmatch(r"(\d+> )?\d+", line):
                runs[-1].append(int(line.rpartition(" ")[2]))
        return runs


@pytest.mark.parametrize(("jobs", "kills"), [(5, 1), (20, 10)], ids=["5-jobs", "20-jobs"])
def test_all_jobs_that_ran_come_back_with_their_state_and_no_other_does(
    jobs: int, kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    session = Session(tmp_path)
    try:
        fails = session.submit("fail", **{"restart-strategy.type": "none"})
        running = [session.submit("run") for _ in range(jobs - 1)]
        wait_until(lambda: session.states().get(fails) == "FAILED", "one has failed", PATIENCE)
        for job_id in running:
            wait_until(lambda job_id=job_id: session.runs_of_counts(job_id), f"{job_id} counts", PATIENCE)  # type: ignore[misc]
        cancelled = running.pop()
        session.job(cancelled).cancel()
        savepoint = session.job(running[0]).savepoint(str(tmp_path / "savepoints"))
        over = {fails: "FAILED", cancelled: "CANCELED"}

        for number, kill in enumerate(chosen_kills(session.supervisor, kills), start=1):
            wait_until(lambda number=number: all_count(session, running, number), "all count", PATIENCE)  # type: ignore[misc]
            kill()
            wait_until(lambda number=number: session.supervisor.starts > number, "it is started again", PATIENCE)  # type: ignore[misc]
        wait_until(lambda: all_count(session, running, kills + 1), "all count", PATIENCE)
        wait_until(
            lambda: session.states() == over | dict.fromkeys(running, "RUNNING"), "these run and no others", PATIENCE
        )
        from_savepoint = session.submit("run", **{"execution.state-recovery.path": savepoint})
        wait_until(lambda: any(session.runs_of_counts(from_savepoint)), "the savepoint can be used", PATIENCE)
        assert session.runs_of_counts(from_savepoint)[0][0] > 1
    finally:
        session.supervisor.kill()
    for job_id in running:
        assert_goes_on(session.runs_of_counts(job_id))
    assert len(session.runs_of_counts(cancelled)) == 1


def chosen_kills(supervisor: Supervisor, count: int) -> list[Callable[[], None]]:
    """Kills of the session's process and of its JVM in turn, in a random order."""
    both = [supervisor.kill_driver, supervisor.kill_jvm]
    chosen = [both[number % 2] for number in range(count)]
    random.Random(os.environ.get("SCURRY_SEED")).shuffle(chosen)
    return chosen


def all_count(session: Session, jobs: list[str], runs: int) -> bool:
    """Whether all jobs have printed more than a few numbers in their latest processes."""
    return all(len(found) >= runs and len(found[-1]) > 5 for found in map(session.runs_of_counts, jobs))


def assert_goes_on(runs: list[list[int]]) -> None:
    """Each process counts without a gap, and goes on from where a checkpoint of the one before it was."""
    for run in runs:
        assert run == list(range(run[0], run[0] + len(run)))
    assert runs[0][0] == 1
    for before, after in zip(runs, runs[1:], strict=False):
        assert before[0] < after[0] <= before[-1] + 1, json.dumps([before[:2], before[-2:], after[:2]])
