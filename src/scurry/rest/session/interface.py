"""The interface through which the endpoint reads and operates a session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.rest.client import RemoteProcess


@dataclass(frozen=True)
class SessionJob:
    """A job of a session.

    Attributes:
        id: Its id, 32 hexadecimal digits.
        name: The name of its program's file.
        submitted_ms: When it was submitted, in milliseconds since the epoch.
        ended_ms: When its process ended; None while that runs.
        state: Its final state; None while its process runs.
        reason: Why its process failed, if the job itself has not said it.
        process: Its endpoint; None before the program has submitted it.
    """

    id: str
    name: str
    submitted_ms: int
    ended_ms: int | None
    state: str | None
    reason: str | None
    process: RemoteProcess | None


class Application(Protocol):
    """The Spark application that the jobs of a session share."""

    @property
    def ui(self) -> str | None:
        """The address of Spark's own web page, or None."""

    def connect(self, job_id: str) -> dict[str, str]:
        """Let a job in; return the environment variables that its process needs."""

    def disconnect(self, job_id: str) -> None:
        """Clean up after a job whose process has ended."""

    def stop(self) -> None: ...

    def wait(self) -> None:
        """Wait until the application has ended."""

    @property
    def ended(self) -> bool: ...


class Programs(Protocol):
    def add_program(self, name: str, content: bytes, now_ms: int) -> Any:
        """Keep a program that was uploaded."""

    def register_program(self, path: Path, now_ms: int) -> Any: ...

    def known_programs(self) -> list[Any]:
        """Return the programs, the newest first."""

    def program(self, identifier: str) -> Any:
        """Return the program with an id, or None if it does not exist."""

    def delete_program(self, program: Any) -> None: ...


class OperableSession(Protocol):
    """The part of a session that its endpoint uses."""

    @property
    def name(self) -> str: ...

    @property
    def started_ms(self) -> int:
        """Return the start time, in milliseconds since the epoch."""

    @property
    def configuration(self) -> Mapping[str, str]: ...

    @property
    def ui(self) -> str | None:
        """The address of Spark's own web page, None without Spark."""

    @property
    def directory(self) -> Programs: ...

    @property
    def workflows(self) -> Any:
        """Its programs that run by schedules."""

    def submit(
        self,
        program: Any,
        *,
        module: str | None = None,
        arguments: list[str],
        configuration: Mapping[str, str],
        directory: str | None = None,
        job_id: str | None = None,
    ) -> str:
        """Start a job; return its id."""

    def plan(
        self, program: Any, *, module: str | None = None, arguments: list[str], configuration: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the plan of the first job that a program would submit, as Flink's."""

    def dispose_savepoint(self, path: str) -> None: ...

    def jobs(self) -> list[SessionJob]:
        """Return all jobs, running or over, the oldest first."""

    def job(self, job_id: str) -> SessionJob | None:
        """Return a job, or None if it does not exist."""

    def archived(self, job_id: str) -> Mapping[str, Any] | None:
        """Return the answers of a job that is over by their paths."""

    def output(self, job_id: str) -> Path:
        """Return the file with the standard output of a job's process."""
        ...

    def errors(self, job_id: str) -> Path:
        """Return the file with the standard error of a job's process."""
