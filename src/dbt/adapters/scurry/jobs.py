"""Streaming jobs: INSERT statements that run on in a gateway, one for each model of `streaming_job`.

A view beside the model's table has the job's record: the hash of the statement, the directory of its checkpoints, and
the savepoint that it begins with. It is written before the job starts, so the next run finds the running job, or the
record by which it starts again. If dbt is killed between a stop and the new record, only the disk has the savepoint,
and the next run refuses a changed statement.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

#: Statuses of jobs that have ended.
ENDED = frozenset({"FINISHED", "FAILED", "CANCELED"})
#: Characters of a hash in the name of a job.
_HASH_LENGTH = 12

Ask = Callable[[str], list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Job:
    """A job of a model.

    Attributes:
        model: The model's table, `catalog.database.name`.
        hash: The hash of the statement.
    """

    id: str
    model: str
    hash: str
    status: str
    started: Any


@dataclass(frozen=True)
class Record:
    """The job that a model has, running or not.

    Attributes:
        hash: The hash of the statement.
        checkpoints: The directory of the job's checkpoints.
        savepoint: The savepoint that it begins with; empty for the beginning.
    """

    hash: str
    checkpoints: str
    savepoint: str


class StreamingJobs:
    """The jobs of the models of a project."""

    def __init__(self, ask: Ask, directory: str) -> None:
        """Make it.

        Args:
            ask: Executes a statement and returns its rows.
            directory: The directory of checkpoints and savepoints, on the gateway's machine.
        """
        self._ask = ask
        self._directory = directory.rstrip("/")

    def listed(self) -> list[Job]:
        """Return the jobs of all models, the newest first."""
        found = []
        for identifier, name, status, started in self._ask("SHOW JOBS"):
            kind, _, rest = str(name).partition(" ")
            model, _, digest = rest.rpartition(" ")
            if kind == "dbt" and model:
                found.append(Job(str(identifier), model, digest, str(status), started))
        return found

    def running(self, model: str) -> Job | None:
        """Return the job of a model that has not ended, or None."""
        return next((job for job in self.listed() if job.model == model and job.status not in ENDED), None)

    def record(self, view: str) -> Record | None:
        """Return the record in a view, or None if the view does not exist."""
        catalog, database, name = parts_of(view)
        if (name,) not in self._ask(f"SHOW VIEWS IN `{catalog}`.`{database}`"):
            return None
        (row,) = self._ask(f"SELECT model_hash, checkpoints, begins_with FROM {view}")
        return Record(*map(str, row))

    def write(self, view: str, record: Record) -> None:
        """Replace the record in a view."""
        values = ", ".join(
            f"CAST({literal(value)} AS STRING) AS {name}"
            for name, value in (
                ("model_hash", record.hash),
                ("checkpoints", record.checkpoints),
                ("begins_with", record.savepoint),
            )
        )
        catalog, database, name = parts_of(view)
        exists = (name,) in self._ask(f"SHOW VIEWS IN `{catalog}`.`{database}`")
        self._ask(f"{'ALTER' if exists else 'CREATE'} VIEW {view} AS SELECT {values}")

    def stop(self, model: str, view: str) -> str:
        """Stop the job of a model with a savepoint, from which the next run goes on.

        Returns:
            The savepoint; empty if no job runs.
        """
        job = self.running(model)
        if job is None:
            return ""
        self._ask(f"SET 'execution.checkpointing.savepoint-dir' = {literal(self._directory + '/savepoints')}")
        ((savepoint,),) = self._ask(f"STOP JOB {literal(job.id)} WITH SAVEPOINT")
        self.write(view, Record(job.hash, self._new_directory(model), str(savepoint)))
        return str(savepoint)

    def cancel(self, model: str, view: str) -> None:
        """Stop the job of a model and forget its state."""
        job = self.running(model)
        if job is not None:
            self._ask(f"STOP JOB {literal(job.id)}")
        self._ask(f"DROP VIEW IF EXISTS {view}")

    def run(self, model: str, view: str, statement: str, settings: Mapping[str, str]) -> str:
        """Let the job of a model run a statement, and keep the state of the one before.

        Args:
            model: The model's table, `catalog.database.name`.
            view: The view with the job's record.
            statement: The INSERT.
            settings: Settings of the job.

        Returns:
            Its identifier and what was done.

        Raises:
            DbtRuntimeError: The statement has changed, and the job has ended without a savepoint.
        """
        digest = hash_of(statement, settings)
        running, record = self.running(model), self.record(view)
        if running is not None and running.hash == digest:
            return f"runs as job {running.id}"
        if running is not None:
            self.stop(model, view)
            record = self.record(view)
        if record is None:
            record = Record(digest, self._new_directory(model), "")
        elif record.hash != digest:
            if running is None and not record.savepoint:
                raise DbtRuntimeError(
                    f"the model {model} has changed, and its job has ended without a savepoint: run the model as it "
                    "was, which goes on from its checkpoints, or begin anew by --full-refresh"
                )
            record = Record(digest, record.checkpoints, record.savepoint)
        self.write(view, record)
        return self._start(model, record, statement, settings)

    def _start(self, model: str, record: Record, statement: str, settings: Mapping[str, str]) -> str:
        given = {
            **settings,
            "execution.runtime-mode": "STREAMING",
            "table.dml-sync": "false",
            "pipeline.name": f"dbt {model} {record.hash}",
            "execution.checkpointing.dir": record.checkpoints,
            **({"execution.state-recovery.path": record.savepoint} if record.savepoint else {}),
        }
        for key, value in given.items():
            self._ask(f"SET {literal(key)} = {literal(value)}")
        try:
            self._ask(statement)
        finally:
            for key in given:
                self._ask(f"RESET {literal(key)}")
        started = self.running(model)
        job = f"job {started.id}" if started else "a job that has ended"
        return f"{job} from savepoint {record.savepoint}" if record.savepoint else job

    def _new_directory(self, model: str) -> str:
        return f"{self._directory}/checkpoints/{model}-{uuid.uuid4().hex[:_HASH_LENGTH]}"


def hash_of(statement: str, settings: Mapping[str, str]) -> str:
    """Return the hash by which a changed statement is known; blanks between lines and at their ends do not count."""
    lines = [line.strip() for line in statement.splitlines()]
    text = "\n".join([line for line in lines if line] + [f"{key}={settings[key]}" for key in sorted(settings)])
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_LENGTH]


def parts_of(name: str) -> tuple[str, str, str]:
    """Return the parts of a name in backticks."""
    catalog, database, table = name.strip("`").split("`.`")
    return catalog, database, table


def literal(value: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + value.replace("'", "''") + "'"
