"""Register the running jobs of this user on this machine, in one file per job, for the command line.

The directory and the files are private to the user, because a file may hold the token of its job. The file of a killed
process stays until the registry is read next.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from scurry.common._process.directories import runtime_directories


@dataclass(frozen=True)
class JobEntry:
    """A job in the registry.

    Attributes:
        id: Job id, 32 hexadecimal digits.
        name: Job name, which need not be unique.
        pid: The job's process.
        url: Its endpoint, such as `http://127.0.0.1:40123`.
        started_ms: When it was submitted, in milliseconds since the epoch.
        token: The token of its endpoint, if it was made for this job alone.
        token_file: The file with the token, if there is one.
        host: The machine, as home directories may be shared.
        process_started: When the process started, which distinguishes it from a later one with the same pid; None if
            the system does not say.
    """

    id: str
    name: str
    pid: int
    url: str
    started_ms: int
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    host: str = ""
    process_started: str | None = None

    @property
    def is_alive(self) -> bool:
        """Return whether the job's process still exists."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return False  # another user's process has the pid now
        return self.process_started == _process_started(self.pid)


class Registration:
    """A job's file in the registry, until `remove`."""

    def __init__(self, file: Path) -> None:
        """Represent an existing file of the registry."""
        self.file = file
        self._pid = os.getpid()

    def remove(self) -> None:
        """Remove the job from the registry; do nothing in a process forked from the job's."""
        if os.getpid() == self._pid:
            with contextlib.suppress(OSError):
                self.file.unlink(missing_ok=True)


def register(entry: JobEntry, kind: str = "jobs") -> Registration:
    """Register a job of this process, or this process as a session.

    Args:
        entry: What others need to know about it.
        kind: `jobs` or `sessions`.

    Raises:
        OSError: None of the directories can be written to.
    """
    complete = replace(entry, host=socket.gethostname(), process_started=_process_started(entry.pid))
    failure: OSError | None = None
    for directory in _directories(kind):
        try:
            return Registration(_write(directory, complete))
        except OSError as error:
            failure = error
    raise failure or OSError("no directory to write to")


def registered_jobs(kind: str = "jobs") -> list[JobEntry]:
    """Return this user's registered processes on this machine, the oldest first, and remove files of dead processes.

    Args:
        kind: `jobs` or `sessions`.
    """
    here, found = socket.gethostname(), {}
    for directory in _directories(kind):
        for file in directory.glob("*.json"):
            entry = _read(file)
            if entry is None or entry.host != here:
                continue
            if entry.is_alive:
                found[entry.id] = entry
            else:
                with contextlib.suppress(OSError):
                    file.unlink(missing_ok=True)
    return sorted(found.values(), key=lambda entry: (entry.started_ms, entry.id))


def _directories(kind: str) -> list[Path]:
    return [directory / kind for directory in runtime_directories()]


def _write(directory: Path, entry: JobEntry) -> Path:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.chmod(0o700)
    file = directory / f"{entry.id}.json"
    staged = file.with_suffix(f".{os.getpid()}")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        json.dump(asdict(entry), stream)
    staged.replace(file)  # atomic, so that no reader sees an unfinished file
    return file


def _read(file: Path) -> JobEntry | None:
    """Return the entry in a file; None if the file is gone or a later release wrote it."""
    try:
        return JobEntry(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _process_started(pid: int) -> str | None:
    """Return when a process started, in clock ticks since boot; None if the system does not say."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return status.rpartition(")")[2].split()[19]  # the command before the last ")" may contain any text
