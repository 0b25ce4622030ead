"""Manage a checkpoint directory and the generations of a job in it.

    DIRECTORY/
        scurry.json             the job's key and its current generation; replaced atomically
        frames/                 rows of batch DataFrames, written when the job began
        origin-1/               the state that generation 1 begins with, until it is restored
        generation-1/
            spark/              Spark's checkpoint: offsets, commits, state
            runs/               large runs of state (`workers/run_files.py`)
            assignments/        the assignment log
            prepared            output of the last batch, until its sinks and Spark have committed it
            finished            exists if all input is processed and committed

A **generation** is one Spark checkpoint. A new one begins when the job starts from a savepoint, is rescaled, or is
started with a changed program: it begins with the state of its *origin*, a savepoint. The old generation stays current
until `scurry.json` names the new one, so a job that is killed in between loses nothing. Batch ids continue from one
generation to the next, because sinks identify batches by them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import file_system, local_path
from scurry.errors import CheckpointCorruptedError, CheckpointMismatchError
from scurry.graph.plan import JobPlan
from scurry.runtime.checkpoint.identity import LOCAL_STORE, SPARK_GENERATIONS, identity, of_other_runner
from scurry.runtime.checkpoint.storage import Storage
from scurry.runtime.exchange.wire import SplitAssignment
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.spark.checkpoint.assignment_log import AssignmentLog
from scurry.spark.checkpoint.prepared import end_of
from scurry.spark.checkpoint.rollback import known_to_sinks
from scurry.spark.session.options import is_one_jvm
from scurry.spark.workers.run_files import RETAINED, RunFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILE = SPARK_GENERATIONS
_FINISHED = "finished"
_FRAMES = "frames"
VERSION = 4
#: Layouts that are read: version 3 has all runs in Spark's state.
_READ = (3, VERSION)


@dataclass(frozen=True)
class Generation:
    """One Spark checkpoint of a job.

    Attributes:
        number: The generation's number, from 1.
        first_batch: Number of the job's batches before it.
        origin: The savepoint it begins with, None if it begins without state.
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

    def run_files(self, spark: SparkSession) -> RunFiles | None:
        """Return the files of large runs of state; None if the directory is on no local disk: workers have no access.

        On several machines, runs stay in Spark's state store.
        """
        directory = local_path(f"{self.directory}/runs")
        if directory is None:
            return None
        retained = int(spark.conf.get("spark.sql.streaming.minBatchesToRetain") or 0)
        return RunFiles(directory, is_one_jvm(spark.sparkContext.master or ""), max(retained, RETAINED))

    def committed(self) -> int | None:
        """Return the last batch that Spark has committed, by Spark's id; None before the first."""
        return max(map(int, filter(str.isdigit, self.storage.list("spark/commits"))), default=None)

    def known(self) -> int:
        """Return how many of its batches sinks may know: those planned, and those planned before a rollback."""
        names = [*self.storage.list("spark/offsets"), *self.storage.list("spark/commits")]
        return max(known_to_sinks(self.storage), *map(int, filter(str.isdigit, names)), -1) + 1

    @property
    def finished(self) -> bool:
        """Return whether all input is processed and committed."""
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
        #: the origin of the next generation, if its entries are written
        self.saved_origin: str | None = None
        names = storage.list(".")
        if LOCAL_STORE in names:
            raise of_other_runner(directory, "the in-process runner", "--runner local")
        if _FILE in names:
            self.content = _content(storage, directory)
            version = self.content.get("version")
            if version not in _READ:
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
        if self.content["version"] != VERSION:  # earlier releases cannot read what is written from now on
            self.content["version"] = VERSION
            self._write()

    @property
    def generation(self) -> Generation:
        content = self.content
        return self._generation(content["generation"], content["first_batch"], content["origin"])

    def _generation(self, number: int, first_batch: int, origin: str | None) -> Generation:
        name = f"generation-{number}"
        return Generation(number, first_batch, origin, f"{self.directory}/{name}", self._storage.below(name))

    @property
    def finished(self) -> bool:
        """Return whether all input is processed and committed."""
        return self.generation.finished

    @property
    def origin(self) -> str | None:
        """The savepoint that the current generation begins with, None if it begins without state."""
        return self.generation.origin

    @property
    def savepoint(self) -> str | None:
        """The savepoint that the user started the job from."""
        return self.content.get("savepoint")

    @property
    def first_batch(self) -> int:
        """The id of the first batch of the current generation."""
        return self.generation.first_batch

    def origin_of_next(self) -> str:
        """Return where to write the state that the next generation begins with."""
        return f"{self.directory}/origin-{self.content['generation'] + 1}"

    def let_origin_be_saved(self, save: Callable[[str], None]) -> None:
        """Let the entries of the state that the next generation begins with be written to the path that is given."""
        path = self.origin_of_next()
        fs, root = file_system(path)
        fs.delete(root)
        save(path)
        self.saved_origin = path

    def adopt(self, plan: JobPlan) -> None:
        """Give the plan the job key that is stored in the directory, so that its sinks keep their names."""
        if self.content:
            plan.settings = replace(plan.settings, job_key=self.content["job_key"])

    def know_partitions(self) -> None:
        """Count the partitions of the current generation if a release has begun it that did not store their number."""
        if self.content and "partitions" not in self.content:
            known = [*filter(str.isdigit, self.generation.storage.list("spark/state/0"))]
            self.content["partitions"] = len(known) or self.content["parallelism"]

    def subtask_ids(self, plan: JobPlan) -> list[int] | None:
        """Return the grouping keys of a plan's subtasks in the current generation; None if it has other subtasks."""
        ids: list[int] = self.content.get("subtask_ids", [])
        same = self.content.get("partitions") == plan.partitions and len(ids) == len(plan.subtask_ids)
        return ids if same else None

    def begin(
        self,
        plan: JobPlan,
        origin: str | None = None,
        savepoint: str | None = None,
        states: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin a new generation of the plan and make it the current one.

        Args:
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
            if savepoint not in (None, self.savepoint):  # the batches after the last one will not be computed again
                first_batch = before.first_batch + before.known()
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


@dataclass(frozen=True)
class CommittedSnapshot:
    """A committed batch and the source positions after it.

    Attributes:
        batch: The batch, by Spark's id.
        source_positions: The source positions; None if nothing was read yet.
        pending: Splits that the positions count as assigned but that no batch has read yet.
    """

    batch: int
    source_positions: SourcePositions | None
    pending: list[SplitAssignment]


def latest_committed(generation: Generation) -> CommittedSnapshot | None:
    """Return the last committed batch of a generation, None before the first."""
    batch = generation.committed()
    return None if batch is None else committed_snapshot(generation, batch)


def committed_snapshot(generation: Generation, batch: int) -> CommittedSnapshot:
    """Return a committed batch of a generation, by Spark's id.

    Spark may plan a batch while assignments are still being added to the stream, so a batch can end in the middle of a
    log entry. The source positions are then those after the whole entry, and the rest of its assignments is pending.
    """
    end = end_of(generation.storage.read(f"spark/offsets/{batch}"))
    source_positions, pending = None, []
    for entry in AssignmentLog(generation.storage).entries():
        if entry.offset > end:
            break
        source_positions = entry.source_positions
        pending = [
            each.assigned
            for each in entry.assignments
            if each.offset > end and isinstance(each.assigned, SplitAssignment) and each.assigned.split is not None
        ]
    return CommittedSnapshot(batch, source_positions, pending)
