"""Workflows of a session: programs that it runs at the times of a schedule, also after it was killed."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.common._process.schedule import Periodic, Schedule
from scurry.errors import ArgumentError, SessionError
from scurry.rest.session.directory import Program, SessionDirectory, read_record, write_record
from scurry.rest.session.interface import SessionJob

_LOG = logging.getLogger("scurry")

#: The key by which a run knows the time that it is for, in milliseconds since the epoch.
SCHEDULE_TIME_KEY = "$internal.schedule-time"
#: Number of runs of a workflow whose output is kept.
MOST_RUNS = 10
#: Milliseconds before its time when a run begins: its process waits for the time when it has started.
_LEAD_MS = 15_000
#: Longest period in milliseconds of a workflow whose process waits for the next run.
_LASTING_MS = 600_000
_PAUSE = 0.5


@dataclass(frozen=True)
class Workflow:
    """A program and its schedule.

    Attributes:
        id: Its id, 32 hexadecimal digits.
        number: A run begins every so many units.
        unit: SECOND, MINUTE, HOUR or DAY.
        zone: The time zone of the schedule.
        done_ms: The last time whose run is over, in milliseconds since the epoch; at first that of its creation.
        configuration: The settings of its runs.
        suspended: Whether no runs begin.
        job_id: The job of the last run; empty before the first.
        state: The final state of that run; empty while it runs.
        reason: Why it has failed; empty if it has not.
        finished_ms: When the last run that has not failed was over; None before.
        lasting: Whether one process executes all runs, if they are not far apart.
        skipped: How many times had no run, because the one before took longer.
    """

    id: str
    name: str
    program: str
    number: int
    unit: str
    zone: str
    done_ms: int
    configuration: dict[str, str] = field(default_factory=dict, repr=False)  # may hold secrets
    suspended: bool = False
    job_id: str = ""
    state: str = ""
    reason: str = ""
    finished_ms: int | None = None
    lasting: bool = False
    skipped: int = 0

    @property
    def schedule(self) -> Schedule:
        """The times of its runs."""
        return Schedule(self.number, self.unit, self.zone)

    def described(self) -> dict[str, Any]:
        """Return the workflow as clients see it, with the time of its next run, without its settings."""
        described = asdict(self)
        del described["configuration"]
        return {**described, "next_ms": None if self.suspended else self.schedule.following(_now())}


class Runs(Protocol):
    """The jobs of the session."""

    def submit(
        self,
        program: Program,
        *,
        arguments: list[str],
        configuration: Mapping[str, str],
        job_id: str | None = None,
        process: str = "",
    ) -> str:
        """Start a job, in the process of a name if one is given; return its id."""

    def await_end(self, job_id: str, seconds: float) -> bool:
        """Wait until a job is over, or for some seconds; return whether it is; one that is unknown is over."""

    def prepare_process(self, name: str, directory: str) -> None:
        """Start a process that will run programs of a directory."""

    def end_process(self, name: str) -> None:
        """End a process whose last job is over."""

    def job(self, job_id: str) -> SessionJob | None:
        """Return a job, or None if it does not exist."""

    def forget(self, job_id: str) -> None:
        """Remove the files of a job that is over."""


class Workflows:
    """The workflows of a session. Used by many threads."""

    def __init__(self, runs: Runs, directory: SessionDirectory) -> None:
        self._runs, self._directory = runs, directory
        self._lock = threading.RLock()
        self._known: dict[str, Workflow] = {}
        self._periodic: dict[str, Periodic] = {}
        self._earlier: dict[str, list[str]] = {}
        self._closing = threading.Event()

    def open(self) -> None:
        """Begin, with the work that was due while the session did not run."""
        self._directory.workflows.mkdir(mode=0o700, exist_ok=True)
        for file in sorted(self._directory.workflows.glob("*.json")):
            try:
                workflow = read_record(Workflow, file)
            except SessionError as error:
                _LOG.error("the workflow in %s cannot run: %s", file, error)
                continue
            self._known[workflow.id] = workflow
            if not workflow.suspended:
                self._begin(workflow)

    def close(self) -> None:
        """End; runs in progress go on when the session is started again."""
        self._closing.set()
        with self._lock:
            periodic = list(self._periodic.values())
        for each in periodic:
            each.stop()

    # ------------------------------------------------------------------ requests

    def create(
        self,
        name: str,
        program: str,
        schedule: Schedule,
        configuration: Mapping[str, str],
        now_ms: int,
        lasting: bool = False,
    ) -> Workflow:
        """Add a workflow.

        Raises:
            ArgumentError: There is no such program.
        """
        if not Path(program).is_file():
            raise ArgumentError(f"there is no program {program}")
        workflow = Workflow(
            uuid.uuid4().hex,
            name,
            program,
            schedule.number,
            schedule.unit,
            schedule.zone,
            now_ms,
            dict(configuration),
            lasting=lasting,
        )
        self._keep(workflow)
        self._begin(workflow)
        return workflow

    def all(self) -> list[Workflow]:
        """Return all workflows, by name."""
        with self._lock:
            return sorted(self._known.values(), key=lambda each: (each.name, each.id))

    def find(self, identifier: str) -> Workflow | None:
        """Return a workflow, or None if it does not exist."""
        with self._lock:
            return self._known.get(identifier)

    def suspend(self, identifier: str) -> Workflow:
        """Begin no more runs, and wait for the end of the last one."""
        self._stop(identifier)
        return self._changed(identifier, suspended=True)

    def resume(self, identifier: str) -> Workflow:
        """Begin runs again, with one that was due in between."""
        workflow = self._changed(identifier, suspended=False)
        self._begin(workflow)
        return workflow

    def delete(self, identifier: str) -> None:
        """Remove a workflow, after the end of a run in progress."""
        self._stop(identifier)
        with self._lock:
            self._known.pop(identifier, None)
            (self._directory.workflows / f"{identifier}.json").unlink(missing_ok=True)

    # ------------------------------------------------------------------ runs

    def _begin(self, workflow: Workflow) -> None:
        identifier = workflow.id
        lead_ms = min(_LEAD_MS, _period_ms(workflow.schedule) // 2)
        periodic = Periodic(
            workflow.schedule,
            lambda due_ms: self._run(identifier, due_ms),
            workflow.done_ms,
            lambda: _now() + lead_ms,
            lambda number: self._skip(identifier, number),
        )
        with self._lock:
            if identifier in self._periodic:
                return
            self._periodic[identifier] = periodic
        if process := _process_of(workflow):
            self._runs.prepare_process(process, str(Path(workflow.program).parent))
        periodic.start()

    def _stop(self, identifier: str) -> None:
        with self._lock:
            periodic = self._periodic.pop(identifier, None)
        if periodic is not None:
            periodic.stop()
            self._runs.end_process(identifier)

    def _skip(self, identifier: str, number: int) -> None:
        workflow = self._changed(identifier, skipped=self._known[identifier].skipped + number)
        _LOG.warning("%s: the last run took longer than its interval; %s had none", workflow.name, _times(number))

    def _run(self, identifier: str, due_ms: int) -> None:
        workflow = self._known[identifier]
        if workflow.job_id and self._ended(workflow.job_id) is None:
            return  # the session ends: the run goes on when it is started again
        job_id = uuid.uuid5(uuid.UUID(identifier), str(due_ms)).hex
        if self._runs.job(job_id) is None:
            self._changed(identifier, job_id=job_id, state="")
            program = Program("", Path(workflow.program).name, workflow.program, due_ms, own=False)
            configuration = {**workflow.configuration, SCHEDULE_TIME_KEY: str(due_ms)}
            self._runs.submit(
                program, arguments=[], configuration=configuration, job_id=job_id, process=_process_of(workflow)
            )
        job = self._ended(job_id)
        if job is None:
            return
        finished = workflow.finished_ms if job.state == "FAILED" else job.ended_ms
        self._changed(identifier, done_ms=due_ms, state=job.state or "", reason=job.reason or "", finished_ms=finished)
        self._forget_earlier(identifier, job_id)

    def _ended(self, job_id: str) -> SessionJob | None:
        """Wait for the end of a run; return it, or None if the session ends before. A run that is gone is over."""
        while not self._closing.is_set():
            if self._runs.await_end(job_id, _PAUSE):
                job = self._runs.job(job_id)
                return job or SessionJob(job_id, "", 0, _now(), "FINISHED", None, None)
        return None

    def _forget_earlier(self, identifier: str, job_id: str) -> None:
        earlier = self._earlier.setdefault(identifier, [])
        earlier.append(job_id)
        while len(earlier) > MOST_RUNS:
            self._runs.forget(earlier.pop(0))

    def _changed(self, identifier: str, **values: Any) -> Workflow:
        with self._lock:
            workflow = self._known.get(identifier)
            if workflow is None:
                raise ArgumentError(f"the session has no workflow {identifier}")
            changed = replace(workflow, **values)
            self._keep(changed)
        return changed

    def _keep(self, workflow: Workflow) -> None:
        with self._lock:
            write_record(self._directory.workflows / f"{workflow.id}.json", asdict(workflow))
            self._known[workflow.id] = workflow


def _process_of(workflow: Workflow) -> str:
    """Return the name of the process of a workflow's runs; empty if each has its own."""
    return workflow.id if workflow.lasting and _period_ms(workflow.schedule) <= _LASTING_MS else ""


def _period_ms(schedule: Schedule) -> int:
    return schedule.following(0) - schedule.last(0)


def _times(number: int) -> str:
    return "one time" if number == 1 else f"{number} times"


def _now() -> int:
    return int(time.time() * 1000)
