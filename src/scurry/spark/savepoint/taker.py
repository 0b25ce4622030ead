"""Take savepoints of jobs on Spark: the committed state of every level, read by Spark's state reader."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from scurry.connectors.files.filesystem import file_system
from scurry.errors import UnsupportedError
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import SavepointRequest
from scurry.runtime.savepoint.metadata import Description, SourcePositions, metadata_of
from scurry.runtime.savepoint.reading import complete_savepoint
from scurry.spark.checkpoint.committed import CommittedSnapshot, latest_committed
from scurry.spark.checkpoint.generations import CheckpointDirectory, Generation
from scurry.spark.savepoint.state_reader import StateVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SavepointTaker:
    """Take savepoints of a generation of a job, which may be running.

    Args:
        job: The job.
        spark: The session.
        generation: The generation.
    """

    def __init__(self, job: JobExecution, spark: SparkSession, generation: Generation) -> None:
        self._job, self._spark, self._generation = job, spark, generation
        self._threads: list[threading.Thread] = []

    def begin(self, request: SavepointRequest) -> None:
        """Begin a savepoint of the last committed batch, while the job runs."""
        thread = threading.Thread(target=self._serve, args=(request,), name="scurry-savepoint", daemon=True)
        self._threads = [*(each for each in self._threads if each.is_alive()), thread]
        thread.start()

    def _serve(self, request: SavepointRequest) -> None:
        try:
            self.take(request, running=True)
        except BaseException as error:
            request.future.set_exception(error)
        else:
            request.future.set_result(request.path)

    def wait(self) -> None:
        """Wait for all savepoints that have begun."""
        for thread in self._threads:
            thread.join()

    def take(
        self, request: SavepointRequest, source_positions: SourcePositions | None = None, running: bool = False
    ) -> None:
        """Write a savepoint.

        Args:
            request: Where to write it, and who has requested it.
            source_positions: The source positions before the drain; None without a drain.
            running: Whether the job runs meanwhile.
        """
        _refuse_endless_frames(self._job)
        with self._job.log.savepoint(request.path, request.asked_by):
            self._write(request, source_positions, running)

    def _write(self, request: SavepointRequest, source_positions: SourcePositions | None, running: bool) -> None:
        job, generation, path = self._job, self._generation, request.path
        committed = latest_committed(generation) or CommittedSnapshot(-1, SourcePositions(), [])
        if not request.has_sources:
            committed = replace(committed, source_positions=SourcePositions(), pending=[])
        if committed.batch >= 0:
            version = StateVersion(generation.spark_directory, committed.batch, job.plan.levels, job.plan.subtask_ids)
            (version.write_beside_job if running else version.write)(self._spark, path)
        _complete(job, Description.of(job.plan, job.state_schemas), generation, committed, path, source_positions)


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
    path = directory.origin_of_next()
    fs, root = file_system(path)
    fs.delete(root)
    StateVersion(generation.spark_directory, committed.batch, there["levels"], there["subtask_ids"]).write(spark, path)
    _complete(job, Description.from_json(there["description"], there["states"]), generation, committed, path)
    return path
