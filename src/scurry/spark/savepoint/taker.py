"""Savepoints of jobs on Spark: the committed state of every level.

Tasks save their state, which they have at hand, in a micro-batch (`runtime/savepoint/saving.py`). On several machines
beside a job that goes on, and for one that does not run, Spark's state reader reads the checkpoint.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import local_path
from scurry.errors import SavepointError, UnsupportedError
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import SavepointRequest, SaveState
from scurry.runtime.savepoint import saving
from scurry.runtime.savepoint.metadata import Description, SourcePositions, metadata_of
from scurry.runtime.savepoint.reading import complete_savepoint
from scurry.spark.checkpoint.generations import (
    CheckpointDirectory,
    CommittedSnapshot,
    Generation,
    committed_snapshot,
    latest_committed,
)
from scurry.spark.savepoint.state_reader import StateVersion

#: Seconds between two looks at whether a micro-batch is committed.
_POLL_SECONDS = 0.05

#: Maximum savepoints of a job that are written at once.
MOST_SAVEPOINTS = 8

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class _TasksSave:
    """A savepoint for which tasks save: the message to them, and the micro-batch that had it."""

    message: SaveState
    batch: Future[int] = field(default_factory=Future)


class SavepointTaker:
    """Save the state of a generation of a job, which may be running.

    Attributes:
        links: Makes a directory for links to runs; None if tasks have no files of runs, or on several machines.
    """

    def __init__(self, job: JobExecution, spark: SparkSession, generation: Generation) -> None:
        self._job, self._spark, self._generation = job, spark, generation
        self.links: Callable[[], str] | None = None
        self._threads: list[threading.Thread] = []
        #: savepoints beside the job: those whose message is still to be sent, and those whose batch is not committed
        self._waiting: deque[_TasksSave] = deque()
        self._sent: list[_TasksSave] = []
        self._ended = threading.Event()

    def begin(self, request: SavepointRequest) -> None:
        """Begin a savepoint while the job runs."""
        running = [each for each in self._threads if each.is_alive()]
        if len(running) >= MOST_SAVEPOINTS:
            reason = f"{len(running)} savepoints of the job are being written: ask again later"
            request.future.set_exception(SavepointError(reason))
            return
        thread = threading.Thread(target=self._serve, args=(request,), name="scurry-savepoint", daemon=True)
        self._threads = [*running, thread]
        thread.start()

    def _serve(self, request: SavepointRequest) -> None:
        try:
            self._take_beside_job(request)
        except BaseException as error:
            request.future.set_exception(error)
        else:
            request.future.set_result(request.path)

    def message(self, path: str, links: str | None = None) -> SaveState:
        """Return the message that lets tasks save, to a place that any process finds."""
        return SaveState(local_path(path) or path, self._job.plan.settings.start, links)

    def messages(self) -> list[SaveState]:
        """Return the messages that let tasks save, each once; the next micro-batch has them."""
        some = [self._waiting.popleft() for _ in range(len(self._waiting))]
        self._sent += some
        return [each.message for each in some]

    def tasks_have_saved(self, batch: int) -> None:
        """Note that the micro-batch with the messages has ended."""
        some, self._sent = self._sent, []
        for each in some:
            each.batch.set_result(batch)

    def end(self) -> None:
        """Wait for all savepoints that have begun; no further micro-batch will end."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _take_beside_job(self, request: SavepointRequest) -> None:
        _refuse_endless_frames(self._job)
        with self._job.log.savepoint(request.path, request.asked_by):
            committed = None if self.links is None else self._let_tasks_link(request.path, self.links())
            if committed is None:
                committed = self._committed()
                if committed.batch >= 0:
                    plan, checkpoint = self._job.plan, self._generation.spark_directory
                    files = self._generation.run_files(self._spark)
                    version = StateVersion(checkpoint, committed.batch, plan.levels, plan.subtask_ids, files)
                    version.write(self._spark, request.path)
            self._complete(request.path, committed)

    def _let_tasks_link(self, path: str, links: str) -> CommittedSnapshot | None:
        """Let the tasks save, and copy the runs that they link to; return None if the job ends before that."""
        try:
            asked = _TasksSave(self.message(path, links))
            self._waiting.append(asked)
            while not (asked.batch.done() and (self._generation.committed() or 0) >= asked.batch.result()):
                if self._ended.wait(_POLL_SECONDS):
                    return None
            copied = subprocess.run(
                [sys.executable, "-m", saving.__name__, links, asked.message.path],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
            )
            if copied.returncode:
                reason = copied.stderr.strip().splitlines() or [f"exit status {copied.returncode}"]
                raise SavepointError(f"the state cannot be written to {path}: {reason[-1]}")
            return committed_snapshot(self._generation, asked.batch.result())
        finally:
            shutil.rmtree(links, ignore_errors=True)

    def take_at_end(
        self, request: SavepointRequest, let_tasks_save: Callable[[str], None], positions: SourcePositions | None
    ) -> None:
        """Write the savepoint that the job ends with.

        Args:
            request: Where to write it, and who has requested it.
            let_tasks_save: Lets the tasks write their state into a savepoint.
            positions: The source positions before the drain; None without a drain.
        """
        _refuse_endless_frames(self._job)
        with self._job.log.savepoint(request.path, request.asked_by):
            let_tasks_save(request.path)
            committed = self._committed()
            if not request.has_sources:
                committed = replace(committed, source_positions=SourcePositions(), pending=[])
            self._complete(request.path, committed, positions)

    def _committed(self) -> CommittedSnapshot:
        return latest_committed(self._generation) or CommittedSnapshot(-1, SourcePositions(), [])

    def _complete(self, path: str, committed: CommittedSnapshot, positions: SourcePositions | None = None) -> None:
        description = Description.of(self._job.plan, self._job.state_schemas)
        _complete(self._job, description, self._generation, committed, path, positions)
        self._job.protocol.step("saved", self._generation.first_batch + committed.batch)


def _refuse_endless_frames(job: JobExecution) -> None:
    for source in job.plan.sources.values():
        if not source.source.native:
            raise UnsupportedError(
                f"source {source.name!r} ({source.origin}) is a streaming DataFrame: Spark keeps its position, and "
                "cannot start it anywhere else; restart the job on its execution.checkpointing.dir instead"
            )


def _complete(
    job: JobExecution,
    description: Description,
    generation: Generation,
    committed: CommittedSnapshot,
    path: str,
    source_positions: SourcePositions | None = None,
) -> None:
    batch_id, stood = (
        generation.first_batch + committed.batch,
        source_positions or committed.source_positions or SourcePositions(),
    )
    drained = source_positions is not None
    complete_savepoint(path, metadata_of(job.as_saved(), description, batch_id, stood, committed.pending, drained))


def save_for_next_generation(job: JobExecution, spark: SparkSession, directory: CheckpointDirectory) -> str | None:
    """Write the committed state of the present generation as the origin of the next one.

    The job's plan may already differ from the generation's plan, which the directory describes.

    Returns:
        The savepoint; if nothing is committed or the present generation's origin is not fully restored, that origin,
        which may be None.
    """
    _refuse_endless_frames(job)
    generation, there = directory.generation, directory.content
    committed = latest_committed(generation)
    if committed is None or (
        committed.source_positions is not None and committed.source_positions.restored is not None
    ):
        return generation.origin
    path, checkpoint = directory.origin_of_next(), generation.spark_directory
    if directory.saved_origin != path:
        files = generation.run_files(spark)
        version = StateVersion(checkpoint, committed.batch, there["levels"], there["subtask_ids"], files)
        directory.let_origin_be_saved(partial(version.write, spark))
    _complete(job, Description.from_json(there["description"], there["states"]), generation, committed, path)
    return path
