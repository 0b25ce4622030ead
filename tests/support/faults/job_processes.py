"""The program as processes of its own, which can be killed."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import scurry
from support import TESTS
from support.faults.job_directory import Place

PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = PROGRAMS / "windows_and_counts.py"
GIVE_UP_SECONDS = 300

#: What the command lines of executors, and of the daemons that Python workers are forked from, have in them.
EXECUTOR = "CoarseGrainedExecutorBackend"
DAEMON = "-m\0scurry.spark.workers.daemon"
#: What is in that of the template, of which these daemons are forked: they look like it.
TEMPLATE = "-m\0scurry.spark.workers.template"

#: Two executors, each a JVM that is there soon, with Python workers of its own.
CLUSTER = [
    "--master", "local-cluster[2,1,1024]", "-D", "spark.executor.memory=1g",
    "-D", "spark.executor.extraJavaOptions=-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
]  # fmt: skip

#: Spark repeats a task whose worker is killed; by default a task on one machine fails for good.
SPARK = ["--runner", "spark", "--master", "local[4,8]"]


def environment() -> dict[str, str]:
    """Where the program and its workers find scurry and the modules of these tests."""
    path = os.pathsep.join([str(Path(scurry.__file__).parent.parent), str(TESTS)])
    inherited = {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"}  # it mutes progress
    return {**inherited, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


class Run:
    """One start of the program, in a session of its own: driver, JVM, executors and workers."""

    def __init__(
        self,
        place: Place,
        options: Sequence[str] = (),
        program: Path = PROGRAM,
        arguments: Sequence[object] | None = None,
    ) -> None:
        self.place = place
        if arguments is None:
            arguments = [place.readings, place.output, place.checkpoints, place.fuse]
        command = [sys.executable, "-m", "scurry", "run", *options, str(program), *map(str, arguments)]
        with open(place.log, "a") as log:
            self.process = subprocess.Popen(command, env=environment(), stdout=log, stderr=log, start_new_session=True,
                                            preexec_fn=_die_with_the_tests)  # fmt: skip

    def ends_within(self, seconds: float) -> bool:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def finish(self) -> None:
        """Waits for the end, which must be a good one."""
        ended = self.ends_within(GIVE_UP_SECONDS)
        if not ended:
            self.kill()
        assert ended and self.process.returncode == 0, self.story("it has not ended well")

    def story(self, what: str) -> str:
        """What happened, with how the process ended and the end of its log."""
        return f"{what}; exit code {self.process.returncode}\n{self.place.log.read_text()[-4000:]}"

    def kill(self) -> None:
        """SIGKILL to every process, until none is left; workers have process groups of their own."""
        while members := list(self.members()):
            for pid in members:
                kill(pid)
            time.sleep(0.02)
        self.process.wait()

    def kill_a_worker(self, chance: random.Random) -> bool:
        """SIGKILL to one of Spark's Python workers alone, which the job does not notice; whether there was one."""
        there = workers(self.process.pid)
        return bool(there) and kill(chance.choice(there))

    def members(self, word: str = "") -> Iterator[int]:
        """Its processes, those whose command line has the word in it."""
        return (process.pid for process in processes(self.process.pid) if word in process.command)


def _die_with_the_tests() -> None:
    """No job outlives the tests, however they end: JVM and workers go when the driver is gone."""
    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


class Process(NamedTuple):
    """A process that lives."""

    pid: int
    parent: int
    command: str


def processes(session: int) -> Iterator[Process]:
    """The processes of a session."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, parent, _, its_session = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:4]
            command = Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            continue
        if int(its_session) == session and state != "Z":
            yield Process(int(pid), int(parent), command)


def workers(session: int, ancestor: int | None = None) -> list[int]:
    """The Python workers of Spark in a session: forked from a daemon, they look like it.

    Args:
        session: The session.
        ancestor: Only those that descend from this process: tests that run side by side share a session.
    """
    there = {process.pid: process for process in processes(session)}
    forked = {pid: p.parent for pid, p in there.items() if DAEMON in p.command or TEMPLATE in p.command}
    templates = {pid for pid, parent in forked.items() if TEMPLATE in there[pid].command and parent not in forked}
    return [
        pid for pid, parent in forked.items()
        if parent in forked and parent not in templates and (ancestor is None or ancestor in _ancestors(pid, there))
    ]  # fmt: skip


def _ancestors(pid: int, there: dict[int, Process]) -> Iterator[int]:
    while pid in there:
        pid = there[pid].parent
        yield pid


def kill(pid: int) -> bool:
    """SIGKILL; whether there was such a process."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
