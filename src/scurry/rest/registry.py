"""The running jobs of this user on this machine: a file for each, written by its process, read by the command line.

The directory is private to the user, as are the files: a file holds the token its job was given. A process that is
killed leaves its file behind; whoever reads the registry next removes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from scurry.directories import runtime_directories

__all__ = ["JobEntry", "register", "registered_jobs"]


@dataclass(frozen=True)
class JobEntry:
    """What the registry knows of a job.

    Attributes:
        id: Job id, 32 hexadecimal digits.
        name: Job name; others may have the same.
        pid: The job's process.
        url: Its endpoint, such as `http://127.0.0.1:40123`.
        started_ms: When it was submitted, in milliseconds since the epoch.
        token: What its endpoint wants, if it was made for this job alone.
        token_file: The file with what its endpoint wants, if there is one.
        host: The machine; home directories may be shared.
        process_started: Tells the process from a later one of the same pid, where the system says.
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
        """Whether the job's process still exists."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return False  # somebody else's process has the pid now
        return self.process_started == _process_started(self.pid)


class Registration:
    """A job's place in the registry, until `remove`."""

    def __init__(self, file: Path) -> None:
        """Stand for a file that is there."""
        self.file = file
        self._pid = os.getpid()

    def remove(self) -> None:
        """Take the job out of the registry; a process forked from the job's has no business to."""
        if os.getpid() == self._pid:
            with contextlib.suppress(OSError):
                self.file.unlink(missing_ok=True)


def register(entry: JobEntry) -> Registration:
    """Write a job of this process into the registry.

    Raises:
        OSError: None of the directories can be written to.
    """
    complete = replace(entry, host=socket.gethostname(), process_started=_process_started(entry.pid))
    failure: OSError | None = None
    for directory in _directories():
        try:
            return Registration(_write(directory, complete))
        except OSError as error:
            failure = error
    raise failure or OSError("no directory to write to")


def registered_jobs() -> list[JobEntry]:
    """Return the jobs of this user that run on this machine, the oldest first; removes what dead processes left."""
    here, found = socket.gethostname(), {}
    for directory in _directories():
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


def _directories() -> list[Path]:
    return [directory / "jobs" for directory in runtime_directories()]


def _write(directory: Path, entry: JobEntry) -> Path:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.chmod(0o700)
    file = directory / f"{entry.id}.json"
    staged = file.with_suffix(f".{os.getpid()}")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        json.dump(asdict(entry), stream)
    staged.replace(file)  # never seen half written
    return file


def _read(file: Path) -> JobEntry | None:
    """The entry in a file; None if it has gone or a later release wrote it."""
    try:
        return JobEntry(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _process_started(pid: int) -> str | None:
    """When a process started, in the system's own unit; None where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return status.rpartition(")")[2].split()[19]  # what stands before is the command, which may hold anything
