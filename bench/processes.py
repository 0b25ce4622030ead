"""Programs of the benchmarks as processes: what they print, their time, processor time and peak memory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Names of memory a run is made of, in the order they are printed.
KINDS = ("driver JVM", "driver Python", "workers")


@dataclass
class Run:
    """A program that has run, or runs."""

    lines: list[str] = field(default_factory=list)
    #: peak of each kind of memory in MB, and of all together
    peaks: dict[str, float] = field(default_factory=dict)
    #: processor time of each process so far
    processors: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0

    def result(self) -> list[str]:
        """The words of the program's line RESULT.

        Raises:
            SystemExit: There is none.
        """
        found = next((line.split()[1:] for line in self.lines if line.startswith("RESULT ")), None)
        if found is None:
            sys.exit("the job has failed:\n" + "".join(self.lines)[-4000:])
        return found


def environment_of_scurry() -> dict[str, str]:
    """Return the environment in which this checkout runs, with compiled files that are kept."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**environment, "PYTHONWARNINGS": "ignore"}


def run_process(
    command: Sequence[str],
    environment: dict[str, str],
    until: Callable[[Run], bool] | None = None,
    limit: float = 3600.0,
) -> Run:
    """Runs a program to its end, or until something holds, and leaves nothing of it.

    Args:
        command: The program and its arguments.
        environment: Its environment.
        until: Ends the program when it returns True; asked four times a second.
        limit: Seconds after which the program is ended anyway.
    """
    done = Run()
    begun = time.monotonic()
    process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)  # fmt: skip
    assert process.stdout is not None
    reader = threading.Thread(target=done.lines.extend, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        while process.poll() is None and time.monotonic() - begun < limit and not (until is not None and until(done)):
            _watch(done, process.pid)
            time.sleep(0.25)
        done.seconds = time.monotonic() - begun
    finally:
        _end(process.pid)
        process.wait()
        reader.join(5)
    return done


def processor_seconds_of_tree() -> float:
    """Return the processor time of this process and of all that descend from it, those that have ended included."""
    parents, own = dict[int, int](), dict[int, float]()
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[pid], own[pid] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def is_mine(pid: int) -> bool:
        while pid and pid != os.getpid():
            pid = parents.get(pid, 0)
        return bool(pid)

    return sum(seconds for pid, seconds in own.items() if is_mine(pid))


def _watch(run: Run, session: int) -> None:
    now = dict.fromkeys(KINDS, 0.0)
    for pid in _members(session):
        run.processors[pid] = _processor_seconds(pid)
        kind = "driver JVM" if "java" in _command(pid) else "driver Python" if pid == session else "workers"
        now[kind] += _megabytes(pid)
    now["all"] = sum(now.values())
    for kind, value in now.items():
        run.peaks[kind] = max(value, run.peaks.get(kind, 0.0))


def _members(session: int) -> list[int]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[3]) == session:
                found.append(int(pid))
        except OSError:
            continue
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]
    except OSError:
        return ""


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> float:
    """Resident memory, with shared pages divided by who shares them, so that forked workers count once."""
    try:
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def _end(session: int) -> None:
    for pid in _members(session):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
