"""Prepare the directory of a job's captures, on the driver: to be run again, they need the plan."""

from __future__ import annotations

import functools
import json
import os
import posixpath
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scurry._dataclasses import dataclass
from scurry.common._config.replay import REPLAY_CAPTURE, REPLAY_DIR, REPLAY_MAX_BATCHES, REPLAY_MAX_BYTES
from scurry.common.redaction import redacted, without_secrets
from scurry.connectors.files.filesystem import file_system
from scurry.errors import ConfigError, ScurryError
from scurry.errors.user_frames import is_internal
from scurry.graph.dependencies.program import is_installed
from scurry.graph.operators import Sink
from scurry.graph.plan import JobPlan, OperatorPlan, SourcePlan
from scurry.graph.settings import Capturing
from scurry.graph.shipping import ship
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.replay.files import JOB, PLAN, SOURCES, START, Start, starts, write_private
from scurry.runtime.savepoint.trust import require_trusted

if TYPE_CHECKING:
    from scurry.runtime.driver.job import JobExecution

#: The most starts of a job whose captures are kept, and the most jobs without a directory of their own.
KEPT_STARTS = KEPT_JOBS = 20
#: The most bytes of the text of the program's files.
_TEXT_BYTES = 4 << 20


def state_directory() -> Path:
    """Return where captures are of jobs without a directory for them: `$XDG_STATE_HOME/scurry/replay`."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "scurry" / "replay"


def capturing(job: JobExecution) -> Capturing | None:
    """Return how the tasks of a job capture their batches, after its directory was prepared; None if they do not.

    Raises:
        SavepointTrustError: Others could write to the directory.
        ConfigError: It cannot be written.
    """
    plan = job.plan
    settings = plan.settings.configuration
    mode = REPLAY_CAPTURE.of(settings)
    if mode not in ("failures", "all"):
        return None
    root = REPLAY_DIR.of(settings)
    if root is None and plan.settings.checkpoint_dir is not None:
        root = posixpath.join(plan.settings.checkpoint_dir, "replay")
    if root is None:
        root = str(state_directory() / str(job.job_id))
        _forget_jobs(state_directory(), str(job.job_id))
    try:
        require_trusted(root, what="captures")
        return _prepared(job, root, "all" if mode == "all" else "failures")
    except ScurryError:
        raise
    except OSError as error:
        raise ConfigError(
            f"{REPLAY_CAPTURE.key} = {mode}: the directory of captures {root} cannot be written: {error}"
        ).with_hint(f"name another one: {REPLAY_DIR.key}") from error


def _prepared(job: JobExecution, root: str, mode: Literal["failures", "all"]) -> Capturing:
    plan, settings = job.plan, job.plan.settings.configuration
    start = _next_start(root, str(job.job_id))
    made = Capturing(
        root,
        posixpath.join(root, start),
        mode,
        REPLAY_MAX_BYTES.of(settings) or 0,
        REPLAY_MAX_BATCHES.of(settings) or 1,
    )
    write_private(posixpath.join(made.directory, PLAN), ship(without_connections(plan)))
    write_private(posixpath.join(made.directory, SOURCES), json.dumps(_program_texts()).encode())
    write_private(posixpath.join(made.directory, JOB), json.dumps(_about(job)).encode())
    note_job(str(job.job_id), plan.settings.job_name, root)
    return made


def note_job(job_id: str, name: str, root: str) -> None:
    """Note where the captures of a job are, so that this user finds them by its id or name."""
    index = state_directory() / "jobs"
    noted = {"id": job_id, "name": without_secrets(name), "directory": root, "started": wall_clock_ms()}
    write_private(str(index / f"{job_id}.json"), json.dumps(noted).encode())
    files = sorted(index.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[KEPT_JOBS:]:
        file.unlink(missing_ok=True)


def _forget_jobs(directory: Path, but: str) -> None:
    """Delete the captures of the oldest jobs that have no directory of their own."""
    if not directory.is_dir():
        return
    own = [each for each in directory.iterdir() if each.name not in ("jobs", but) and each.is_dir()]
    for each in sorted(own, key=lambda one: one.stat().st_mtime, reverse=True)[KEPT_JOBS - 1 :]:
        if not any(_runs(start) for start in starts(*file_system(each))):
            shutil.rmtree(each, ignore_errors=True)


def _runs(start: Start) -> bool:
    """Return whether the process of a job still runs on this machine."""
    if start.job.get("host") != socket.gethostname():
        return False
    try:
        os.kill(int(start.job["pid"]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _next_start(root: str, job_id: str) -> str:
    """Return the name of the next start's directory.

    Other jobs may capture below the same root. So only those of earlier starts of the job that captured nothing are
    deleted, and the oldest of jobs that do not run.
    """
    fs, path = file_system(root)
    there = list(starts(fs, path))
    own = [each for each in there if each.job.get("id") == job_id]
    empty = [each for each in own if not each.captures]
    rest = [each for each in there if each not in empty]
    for each in [*empty, *(old for old in rest[KEPT_STARTS - 1 :] if old in own or not _runs(old))]:
        fs.delete(each.path)
    numbers = [int(found[1]) for name, _ in fs.entries(path) if (found := START.fullmatch(name))]
    return f"{max(numbers, default=0) + 1:06d}-{job_id[:8]}"


def _about(job: JobExecution) -> dict[str, Any]:
    settings = job.plan.settings
    return {
        "id": str(job.job_id),
        "name": without_secrets(settings.job_name),
        "attempt": settings.attempt,
        "runner": settings.runner,
        "parallelism": settings.parallelism,
        "started": wall_clock_ms(),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "aliased": "scurry.pyflink_alias" in sys.modules,
        "path": [path for path in map(os.path.abspath, sys.path) if _is_of_program(path)],
    }


def _is_of_program(path: str) -> bool:
    return not is_internal(path) and not is_installed(Path(path))


@functools.lru_cache(maxsize=1024)
def _text_without_secrets(file: str, changed_ns: int, size: int) -> str:
    """Return the text of a file, in the version of a time and size: a job that restarts reads the same ones again."""
    # line by line: the numbers of lines stay
    return "\n".join(map(without_secrets, Path(file).read_text(encoding="utf-8").split("\n")))


def _program_texts() -> dict[str, str]:
    """Return the text of the program's own modules by their file names, without secrets."""
    found: dict[str, str] = {}
    size = 0
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py") or not _is_of_program(os.path.abspath(file)):
            continue
        try:
            status = os.stat(file)
            text = _text_without_secrets(file, status.st_mtime_ns, status.st_size)
        except (OSError, ValueError):
            continue
        size += len(text)
        if size > _TEXT_BYTES:
            break
        found[file] = text
    return found


# ------------------------------------------------------------------ the plan without what connects to other systems


@dataclass(frozen=True)
class CapturedSource:
    """The source of a captured plan, which reads nothing.

    Attributes:
        sources: Empty if scurry makes its timestamps; otherwise itself, as they are checked.
    """

    bounded: bool
    native: bool
    produced_type: Any
    is_own: bool
    converts: bool = False

    @property
    def sources(self) -> tuple[Any, ...]:
        return () if self.is_own else (self,)


@dataclass(frozen=True)
class CapturedSink:
    """The sink of a captured plan that writes after the last level, which no task reaches."""

    native: bool
    staged: bool = True


def without_connections(plan: JobPlan) -> JobPlan:
    """Return a plan without the connections of its sources and sinks, and without the secrets of its settings."""
    settings = replace(
        plan.settings,
        configuration=redacted(plan.settings.configuration),
        job_parameters=redacted(plan.settings.job_parameters),
        dependencies=None,
        capturing=None,
        tables=None,
    )
    return replace(
        plan,
        settings=settings,
        sources={number: _captured_source(source) for number, source in plan.sources.items()},
        operators={number: _captured_operator(operator) for number, operator in plan.operators.items()},
        rebuild=None,
    )


def _captured_source(source: SourcePlan) -> Any:
    given = source.source
    readers = getattr(given, "sources", (given,))
    is_own = all(type(each).__module__.startswith(("scurry.connectors.", "scurry.sql.")) for each in readers)
    stands_in: Any = CapturedSource(
        given.bounded, given.native, getattr(given, "produced_type", None), is_own, getattr(given, "converts", False)
    )
    return replace(source, source=stands_in)


def _captured_operator(plan: OperatorPlan) -> OperatorPlan:
    operator = plan.operator
    if not isinstance(operator, Sink) or not operator.function.staged:
        return plan
    captured = {name: given for name, given in plan.captured.items() if name != "operator"}
    return replace(plan, operator=replace(operator, function=CapturedSink(operator.function.native)), captured=captured)
