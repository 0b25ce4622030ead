"""Register the running jobs of this user on this machine, in one file per job, and find them by id or name."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from dataclasses import asdict, field, replace
from pathlib import Path

from scurry._dataclasses import dataclass
from scurry.common._process.directories import runtime_directories
from scurry.common._process.replaced_files import replace_file
from scurry.errors import ConfigError, JobNotFoundError
from scurry.errors.suggestions import similar_names
from scurry.rest.client import RemoteJob, RemoteProcess, environment_token
from scurry.rest.settings import read_token_file


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
    replace_file(file, json.dumps(asdict(entry)), private=True)
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


#: Why a job that runs in one process may not be found.
WHERE_JOBS_ARE_LISTED = "jobs in one process are listed if they run at a terminal, or with -D scurry.rest=on"


def running_jobs(url: str | None = None, timeout: float = 60.0) -> list[RemoteJob]:
    """Return the running jobs of this user on this machine, or those of an endpoint.

    Args:
        url: An endpoint on any machine; its token is in the environment variable SCURRY_REST_TOKEN.
        timeout: Seconds to wait for answers.

    Raises:
        JobUnreachableError: The endpoint does not answer.
        RequestRefusedError: The token is missing or wrong.
    """
    if url is None:
        return [RemoteJob(e.id, e.name, RemoteProcess(e.url, token_of(e), timeout, e.pid)) for e in registered_jobs()]
    url = url if "://" in url else f"http://{url}"
    registered = [token_of(entry) for entry in registered_jobs() if entry.url == url.rstrip("/")]
    process = RemoteProcess(url, next(iter(registered), environment_token()), timeout)
    return [RemoteJob(one["jid"], one["name"], process) for one in process.request("GET", "/jobs/overview")["jobs"]]


def find_job(job: str, url: str | None = None) -> RemoteJob:
    """Return the running job with an id or name.

    Args:
        job: Its id, the beginning of its id, or its name.
        url: Its endpoint, if it is not a job of this user on this machine.

    Raises:
        JobNotFoundError: No job matches, or several do.
    """
    known = running_jobs(url)
    for meant in (
        [one for one in known if one.id == job],
        [one for one in known if one.name == job],
        [one for one in known if job and one.id.startswith(job)],
    ):
        if len(meant) == 1:
            return meant[0]
        if meant:
            ids = "\n".join(f"  {one.id}  {one.name}" for one in meant)
            raise JobNotFoundError(f"{job!r} may be any of {len(meant)} jobs; give more of the id:\n{ids}")
    raise JobNotFoundError(_nothing_like(job, known))


def _nothing_like(job: str, known: list[RemoteJob]) -> str:
    if not known:
        return f"no job {job!r}: no job is running; {WHERE_JOBS_ARE_LISTED}"
    names = {text: one for one in known for text in (one.id, one.name)}
    close = [names[text] for text in similar_names(job, names, cutoff=0.5)]
    hint = f"did you mean {' or '.join(f'{one.name!r} ({one.id})' for one in dict.fromkeys(close))}?" if close else ""
    return f"no running job has the id or name {job!r}: {hint or '`scurry list` shows those there are'}"


def token_of(entry: JobEntry) -> str | None:
    """Return the token of a job's endpoint: made for the job, else from its token file, else from the environment."""
    if entry.token is not None:
        return entry.token
    if entry.token_file is not None:
        try:
            return read_token_file(entry.token_file)
        except ConfigError:
            pass  # the file was moved: the environment may have the token
    return environment_token()
