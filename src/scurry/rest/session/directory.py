"""Files of a session: programs, submissions, checkpoints, outputs and the archive of its jobs."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import IO, Any, TypeVar

from scurry._dataclasses import dataclass
from scurry.common._process.file_locks import lock as lock_file
from scurry.common._process.replaced_files import replace_file
from scurry.errors import ConfigError, SessionError

T = TypeVar("T")

#: The states of jobs that are over.
FINAL_STATES = ("FINISHED", "CANCELED", "FAILED")
#: The latest time in milliseconds that has a date.
_LATEST_MS = 253_402_300_799_000


def read_record(kind: type[T], file: Path) -> T:
    """Return an object whose fields a file has as JSON.

    Args:
        kind: A dataclass.

    Raises:
        SessionError: The file is damaged.
    """
    content = _json(_text(file))
    if not isinstance(content, dict):
        raise SessionError("it is no JSON object")
    fields = {each.name: each for each in dataclasses.fields(kind)}  # type: ignore[arg-type] # T is a dataclass
    for name, each in fields.items():
        required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        if required and name not in content:
            raise SessionError(f"it has no field {name!r}")
        if name in content and not _KINDS[str(each.type)](content[name]):
            raise SessionError(f"its field {name!r} is {content[name]!r:.100}")
    if unknown := [name for name in content if name not in fields]:
        raise SessionError(f"it has a field {unknown[0]!r:.100}, which this version of scurry does not know")
    return kind(**content)


def read_archive(file: Path) -> dict[str, Any] | None:
    """Return the answers of a job that is over by their paths, None if the archive is missing or damaged."""
    try:
        answers = {str(part["path"]): _json(part["json"]) for part in _json(_text(file))["archive"]}
        one = answers["/jobs/overview"]["jobs"][0]
        is_whole = (
            one["jid"] == file.name
            and one["state"] in FINAL_STATES
            and isinstance(one["name"], str)
            and isinstance(one["tasks"], dict)
            and all(map(_is_time, (one["start-time"], one["end-time"], one["duration"], one["last-modification"])))
        )
    except (SessionError, LookupError, TypeError):
        return None
    return answers if is_whole else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SessionError(getattr(error, "strerror", None) or str(error)) from None


def _json(text: str) -> Any:
    """Return the content of a text that can be sent on as JSON."""
    try:
        content = json.loads(text)
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise SessionError(str(error)) from None
    return content


def _is_time(value: Any) -> bool:
    return type(value) is int and -1 <= value <= _LATEST_MS


def _is_optional(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or test(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


#: Annotation of a field -> test of its values; numbers are times.
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "str": _is_text,
    "str | None": _is_optional(_is_text),
    "int": _is_time,
    "int | None": _is_optional(_is_time),
    "bool": lambda value: isinstance(value, bool),
    "list[str]": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "dict[str, str]": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
}


_JOB_ID = re.compile("[0-9a-f]{32}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
#: Suffixes of programs: Python, a zipped project, a script of SQL.
_SUFFIXES = (".py", ".zip", ".pyz", ".sql")


@dataclass(frozen=True)
class Program:
    """A program that a session knows.

    Attributes:
        id: Its id, as in Flink: a random part, `_` and the name of its file.
        uploaded_ms: When it was uploaded or registered, in milliseconds since the epoch.
        own: Whether the session has a copy of its own, which `delete` removes.
    """

    id: str
    name: str
    path: str
    uploaded_ms: int
    own: bool = True


@dataclass(frozen=True)
class Submission:
    """A job that was submitted to a session, and its end.

    Attributes:
        id: Id of its first job, 32 hexadecimal digits.
        module: The module to run instead of the file, which is then a zipped project; None runs the file.
        arguments: Its `sys.argv[1:]`.
        configuration: Its settings, beyond those of the session.
        submitted_ms: When, in milliseconds since the epoch.
        directory: The working directory of its process.
        ended_ms: When its process ended; None while it is to run.
        state: Its final state: FINISHED, CANCELED or FAILED; None while it is to run.
        reason: The end of its output if it failed.
        process: The name of the process that it shares with the runs before and after it; empty for one of its own.
    """

    id: str
    program: str
    name: str
    submitted_ms: int
    directory: str
    module: str | None = None
    arguments: list[str] = field(default_factory=list)
    configuration: dict[str, str] = field(default_factory=dict, repr=False)  # may hold secrets
    ended_ms: int | None = None
    state: str | None = None
    reason: str | None = None
    process: str = ""


def sessions_directory() -> Path:
    """Return the directory of this user's sessions: `$XDG_STATE_HOME/scurry/sessions`."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "scurry" / "sessions"


class SessionDirectory:
    """The directory of one session, which one process at a time may hold.

    Args:
        path: The directory; it is made if needed, for this user only.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    @classmethod
    def named(cls, name: str) -> SessionDirectory:
        """Return the directory of a session of this user.

        Raises:
            ConfigError: The name cannot be that of a directory.
        """
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"a session cannot be called {name!r}: names have up to 63 letters, digits, '.', '_' and '-', and "
                "begin with a letter or digit"
            )
        return cls(sessions_directory() / name)

    def hold(self) -> None:
        """Reserve the directory for this process, until it ends.

        Raises:
            SessionError: Another process holds it.
        """
        for part in (self.path, self.programs, self.jobs, self.checkpoints, self.archive):
            part.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._lock = open(self.path / "lock", "a+", encoding="utf-8")
        except OSError as error:
            raise SessionError(f"session {self.path.name!r} cannot lock its directory: {error}") from None
        try:
            lock_file(self._lock, wait=False)
        except OSError:
            self._lock.close()
            raise SessionError(
                f"session {self.path.name!r} runs already: `scurry session list` shows it; start this one under "
                "another name"
            ) from None

    def is_held(self) -> bool:
        """Return whether a process holds the directory."""
        try:
            with open(self.path / "lock", "a+", encoding="utf-8") as lock:
                lock_file(lock, wait=False)
        except BlockingIOError:
            return True
        except OSError:
            return False  # there is no such directory
        return False

    def release(self) -> None:
        """Let another process hold the directory."""
        if self._lock is not None:
            self._lock.close()

    @property
    def programs(self) -> Path:
        return self.path / "jars"

    @property
    def jobs(self) -> Path:
        """The submissions and the output of their processes."""
        return self.path / "jobs"

    @property
    def checkpoints(self) -> Path:
        """The checkpoints of jobs that do not name a directory."""
        return self.path / "checkpoints"

    @property
    def archive(self) -> Path:
        """The archives of jobs that are over, one file each, as Flink's history server reads them."""
        return self.path / "archive"

    @property
    def workflows(self) -> Path:
        """The programs that run by schedules."""
        return self.path / "workflows"

    @property
    def files(self) -> Path:
        """The files that jobs send to the executors of a cluster."""
        return self.path / "files"

    def output(self, job_id: str) -> Path:
        """Return the file with the standard output of a job's process."""
        return self.jobs / f"{job_id}.log"

    def errors(self, job_id: str) -> Path:
        """Return the file with the standard error of a job's process."""
        return self.jobs / f"{job_id}.err"

    # ------------------------------------------------------------------ programs

    def add_program(self, name: str, content: bytes, now_ms: int) -> Program:
        """Keep a program that was uploaded.

        Raises:
            SessionError: It is neither Python, nor a zipped project, nor a script of SQL.
        """
        name = _file_name(name)
        identifier = f"{uuid.uuid4()}_{name}"
        # In a directory of its own, as the import path of the program begins with its directory.
        directory = self.programs / identifier
        directory.mkdir(mode=0o700)
        (directory / name).write_bytes(content)
        return self._note(Program(identifier, name, str(directory / name), now_ms))

    def register_program(self, path: Path, now_ms: int) -> Program:
        """Note a program of this machine, which stays where it is, beside the modules that it imports.

        Raises:
            SessionError: There is no such file, or it is none that can be run.
        """
        if not path.is_absolute() or not path.is_file():
            raise SessionError(f"the session's machine has no file {path}: upload the program")
        name = _file_name(path.name)
        identifier = f"{uuid.uuid4()}_{name}"
        (self.programs / identifier).mkdir(mode=0o700)
        return self._note(Program(identifier, name, str(path), now_ms, own=False))

    def known_programs(self) -> list[Program]:
        """Return the programs, the newest first."""
        found = []
        for file in self.programs.glob("*/program.json"):
            with suppress(SessionError):  # a damaged one can only be uploaded again
                found.append(read_record(Program, file))
        return sorted(found, key=lambda program: -program.uploaded_ms)

    def program(self, identifier: str) -> Program | None:
        """Return the program with an id, or None if it does not exist."""
        return next((program for program in self.known_programs() if program.id == identifier), None)

    def delete_program(self, program: Program) -> None:
        """Forget a program; jobs that run it need it only to be started again."""
        shutil.rmtree(self.programs / program.id, ignore_errors=True)

    def _note(self, program: Program) -> Program:
        write_record(self.programs / program.id / "program.json", asdict(program))
        return program

    # ------------------------------------------------------------------ submissions

    def keep(self, submission: Submission) -> None:
        """Write a submission, or its end."""
        write_record(self.jobs / f"{submission.id}.json", asdict(submission))

    def checkpoints_of(self, submission: Submission) -> list[Path]:
        """Return the checkpoints of the jobs of a program; its first job's is named by its id."""
        return list(self.checkpoints.glob(f"{submission.id}*"))

    def ended(self, submission: Submission, state: str, ended_ms: int, reason: str | None) -> Submission:
        """Write that a submission is over; its checkpoints are kept only if it failed."""
        over = replace(submission, state=state, ended_ms=ended_ms, reason=reason)
        self.keep(over)
        if state != "FAILED":
            for checkpoint in self.checkpoints_of(submission):
                shutil.rmtree(checkpoint, ignore_errors=True)
        return over

    def forget(self, job_id: str) -> None:
        """Remove the files of a job that is over."""
        for file in (self.jobs / f"{job_id}.json", self.output(job_id), self.errors(job_id), self.archive / job_id):
            file.unlink(missing_ok=True)

    def submissions(self) -> Iterator[Submission]:
        """Yield all submissions, the oldest first; those whose files are damaged have failed for that reason."""
        found = [_submission(file) for file in self.jobs.glob("*.json") if _JOB_ID.fullmatch(file.stem)]
        yield from sorted(found, key=lambda submission: (submission.submitted_ms, submission.id))


def _file_name(name: str) -> str:
    name = Path(name).name
    if not name.endswith(_SUFFIXES) or not _NAME.fullmatch(name):
        raise SessionError(
            f"{name!r} is no program: a session runs {', '.join(_SUFFIXES)} files; a project is a zip file with a "
            "__main__.py, or with the module that `entryClass` names"
        )
    return name


def _submission(file: Path) -> Submission:
    try:
        submission = read_record(Submission, file)
        if submission.id != file.stem or (submission.state or FINAL_STATES[0]) not in FINAL_STATES:
            raise SessionError(f"it is of job {submission.id!r:.100}, in state {submission.state!r:.100}")
    except SessionError as error:
        changed_ms = int(file.lstat().st_mtime * 1000)
        return Submission(
            file.stem,
            "",
            "unknown",
            changed_ms,
            "",
            ended_ms=changed_ms,
            state="FAILED",
            reason=f"the session cannot run this job again: its file {file} is damaged: {error}",
        )
    if submission.state is not None and submission.ended_ms is None:
        return replace(submission, ended_ms=submission.submitted_ms)
    return submission


def write_record(file: Path, content: dict[str, Any]) -> None:
    """Write a record, readable by this user only, in place of an earlier one."""
    replace_file(file, json.dumps(content), private=True, durable=True)  # settings may hold secrets
