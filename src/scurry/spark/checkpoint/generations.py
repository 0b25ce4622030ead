"""Manage a checkpoint directory and the generations of a job in it.

    DIRECTORY/
        scurry.json             the job's key and its current generation; replaced atomically
        frames/                 rows of batch DataFrames, written when the job began
        origin-1/               the state that generation 1 begins with, until it is restored
        generation-1/
            spark/              Spark's checkpoint: offsets, commits, state
            assignments/        the assignment log
            finished            exists if all input is processed and committed

A **generation** is one Spark checkpoint. A new one begins when the job starts from a savepoint, is rescaled, or is
started with a changed program: it begins with the state of its *origin*, a savepoint. The old generation stays current
until `scurry.json` names the new one, so a job that is killed in between loses nothing. Batch ids continue from one
generation to the next, because sinks identify batches by them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from scurry.errors import CheckpointCorruptedError, CheckpointMismatchError
from scurry.graph.plan import JobPlan
from scurry.runtime.savepoint.metadata import Description
from scurry.spark.checkpoint.storage import Storage

_FILE = "scurry.json"
_FINISHED = "finished"
_FRAMES = "frames"
VERSION = 3


def identity(plan: JobPlan) -> dict[str, Any]:
    """Return what a plan must share with the stored one to resume it: operators, levels, key groups, subtasks."""
    return {
        "levels": plan.levels,
        "parallelism": plan.settings.parallelism,
        "subtask_ids": plan.subtask_ids,
        "level_of": {op.uid: op.level for op in plan.operators.values() if op.input_edges},
        "description": asdict(Description.of(plan)),
    }


def differences(there: dict[str, Any], here: dict[str, Any]) -> list[str]:
    """Return readable differences between two identities."""
    if all(there.get(key) == value for key, value in here.items()):
        return []
    details = [
        f"{key} was {there.get(key)}, now is {here[key]}"
        for key in ("parallelism", "levels")
        if there.get(key) != here[key]
    ]
    for what in ("operators", "sources"):
        before, now = there["description"][what], here["description"][what]
        details += [f"it no longer has the {what[:-1]} {uid!r}" for uid in before if uid not in now]
        details += [f"it now has the {what[:-1]} {uid!r}" for uid in now if uid not in before]
        details += [
            f"{field} of {uid!r} was {before[uid].get(field)!r}, now is {value!r}"
            for uid in now
            if uid in before
            for field, value in now[uid].items()
            if before[uid].get(field) != value and field != "number"
        ]
    return details or ["operators have changed places"]


@dataclass(frozen=True)
class Generation:
    """One Spark checkpoint of a job.

    Attributes:
        number: The generation's number, from 1.
        first_batch: Number of the job's batches before it.
        origin: The savepoint it begins with, None if it begins without state.
        directory: Its directory.
        storage: Its small files.
    """

    number: int
    first_batch: int
    origin: str | None
    directory: str
    storage: Storage

    @property
    def spark_directory(self) -> str:
        """Spark's checkpoint."""
        return f"{self.directory}/spark"

    def committed(self) -> int | None:
        """Return the last batch that Spark has committed, by Spark's id; None before the first."""
        return max(map(int, filter(str.isdigit, self.storage.list("spark/commits"))), default=None)

    @property
    def finished(self) -> bool:
        """Whether all input is processed and committed."""
        return _FINISHED in self.storage.list(".")

    def finish(self) -> None:
        """Record that all input is processed and committed."""
        self.storage.write(_FINISHED, b"")


def _content(storage: Storage, directory: str) -> dict[str, Any]:
    try:
        content = json.loads(storage.read(_FILE))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise CheckpointCorruptedError(
            f"{directory}/{_FILE} is damaged, and nothing else says which of the checkpoints count. Restore it from a "
            "copy, or give the job another execution.checkpointing.dir to start empty"
        )
    return content


class CheckpointDirectory:
    """The checkpoint directory of a job.

    Args:
        directory: The directory.
        storage: Its small files.

    Raises:
        CheckpointMismatchError: It was written by a release whose layout this one does not know.
        CheckpointCorruptedError: `scurry.json` is damaged.
    """

    def __init__(self, directory: str, storage: Storage) -> None:
        self.directory = directory
        self._storage = storage
        #: what `scurry.json` holds; empty in a new directory
        self.content: dict[str, Any] = {}
        if _FILE in storage.list("."):
            self.content = _content(storage, directory)
            version = self.content.get("version")
            if version != VERSION:
                raise CheckpointMismatchError(
                    f"the checkpoint in {directory} has layout version {version}, this release writes {VERSION}: start "
                    "from a savepoint taken with the release that wrote it, or empty the directory"
                )

    def clear_leftovers(self) -> None:
        """Delete incomplete files of killed jobs; the directory must be locked.

        Spark takes incomplete files of the first batch for those of another query, and refuses to start.

        Raises:
            CheckpointCorruptedError: There are generations, but nothing says which of them is current.
        """
        numbered = {name: name.rpartition("-") for name in self._storage.list(".")}
        numbers = {name: (kind, int(n)) for name, (kind, _, n) in numbered.items() if n.isdigit()}
        if not self.content:
            for name, (kind, number) in numbers.items():
                if kind == "generation" and self._generation(number, 0, None).committed() is not None:
                    raise CheckpointCorruptedError(
                        f"{self.directory} has committed batches in {name}, but {_FILE} is missing. Restore it from a "
                        "copy; or empty the directory, or give the job another execution.checkpointing.dir, to start "
                        "empty"
                    )
            self._storage.delete(_FRAMES)  # rows of a job that did not get further
            return
        self._storage.sweep(deep=False)
        self.generation.storage.sweep()
        for name, (kind, number) in numbers.items():
            if kind in ("generation", "origin") and number > self.content["generation"]:
                self._storage.delete(name)

    @property
    def generation(self) -> Generation:
        """The current generation."""
        content = self.content
        return self._generation(content["generation"], content["first_batch"], content["origin"])

    def _generation(self, number: int, first_batch: int, origin: str | None) -> Generation:
        name = f"generation-{number}"
        return Generation(number, first_batch, origin, f"{self.directory}/{name}", self._storage.below(name))

    @property
    def savepoint(self) -> str | None:
        """The savepoint that the user started the job from."""
        return self.content.get("savepoint")

    def origin_of_next(self) -> str:
        """Return where to write the state that the next generation begins with."""
        return f"{self.directory}/origin-{self.content['generation'] + 1}"

    def adopt(self, plan: JobPlan) -> None:
        """Give the plan the job key that is stored in the directory, so that its sinks keep their names."""
        if self.content:
            plan.settings = replace(plan.settings, job_key=self.content["job_key"])

    def begin(
        self,
        plan: JobPlan,
        origin: str | None = None,
        savepoint: str | None = None,
        states: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin a new generation of the plan and make it the current one.

        Args:
            plan: The plan.
            origin: The savepoint it begins with.
            savepoint: The savepoint the user named.
            states: The schemas of the state it begins with, by uid.
        """
        self.adopt(plan)
        number, first_batch = 1, 0
        if self.content:
            before = self.generation
            committed = before.committed()
            number = before.number + 1
            first_batch = before.first_batch + (0 if committed is None else committed + 1)
        self._storage.delete(f"generation-{number}")  # files of a start that was killed
        self.content = {
            "version": VERSION,
            "job_key": plan.settings.job_key,
            "generation": number,
            "first_batch": first_batch,
            "origin": origin,
            "savepoint": savepoint,
            "states": copy.deepcopy(dict(states or {})),
            **identity(plan),
        }
        self._write()

    def remember_states(self, states: Mapping[str, Any]) -> None:
        """Store the schemas of the generation's state if they have changed."""
        if states != self.content["states"]:
            self.content["states"] = copy.deepcopy(dict(states))
            self._write()

    def _write(self) -> None:
        self._storage.write(_FILE, json.dumps(self.content, indent=1).encode())

    def forget_earlier(self) -> None:
        """Delete earlier generations, their origins and the origin of this one."""
        number = self.content["generation"]
        for name in self._storage.list("."):
            kind, _, which = name.rpartition("-")
            if kind in ("generation", "origin") and which.isdigit() and int(which) < number + (kind == "origin"):
                self._storage.delete(name)
