"""Savepoints of jobs on Spark: the committed state of every level, read by Spark's state reader."""

from __future__ import annotations

import threading
from typing import Any

from scurry.connectors.files.filesystem import file_system
from scurry.errors import UnsupportedError
from scurry.runtime.control import SavepointRequest
from scurry.runtime.job import JobExecution
from scurry.runtime.savepoint.format import write_metadata
from scurry.runtime.savepoint.taking import Description, Standing, metadata_of
from scurry.spark.cut import Cut, committed_cut
from scurry.spark.generations import CheckpointDirectory, Generation
from scurry.spark.state_reader import StateVersion


class SavepointTaker:
    """Takes savepoints of a generation of a job, which may be running.

    Args:
        job: The job.
        spark: The session.
        generation: The generation.
    """

    def __init__(self, job: JobExecution, spark: Any, generation: Generation) -> None:
        self._job, self._spark, self._generation = job, spark, generation
        self._threads: list[threading.Thread] = []

    def begin(self, request: SavepointRequest) -> None:
        """Takes a savepoint of what is committed now, while the job goes on."""
        thread = threading.Thread(target=self._serve, args=(request,), name="scurry-savepoint", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self, request: SavepointRequest) -> None:
        try:
            self.take(request.path, running=True)
        except BaseException as error:
            request.future.set_exception(error)
        else:
            request.future.set_result(request.path)

    def wait(self) -> None:
        """Waits for those begun."""
        for thread in self._threads:
            thread.join()

    def take(self, path: str, standing: Standing | None = None, running: bool = False) -> None:
        """Writes a savepoint.

        Args:
            path: Where to write it.
            standing: Where the sources stood before event time was brought to its end, if it was.
            running: Whether the job goes on meanwhile.
        """
        job, generation = self._job, self._generation
        _refuse_endless_frames(job)
        cut = committed_cut(generation) or Cut(-1, Standing(), [])
        if cut.batch >= 0:
            version = StateVersion(generation.spark_directory, cut.batch, job.plan.levels, job.plan.subtask_ids)
            (version.write_beside_job if running else version.write)(self._spark, path)
        _write_metadata(job, Description.of(job.plan, job.state_schemas), generation, cut, path, standing)


def _refuse_endless_frames(job: JobExecution) -> None:
    for source in job.plan.sources.values():
        if not source.source.native:
            raise UnsupportedError(
                f"source {source.name!r} ({source.origin}) is a streaming DataFrame: Spark keeps its position, and "
                "cannot start it anywhere else; restart the job on its execution.checkpointing.dir instead"
            )


def _write_metadata(
    job: JobExecution,
    description: Description,
    generation: Generation,
    cut: Cut,
    path: str,
    standing: Standing | None = None,
) -> None:
    batch_id, stood = generation.first_batch + cut.batch, standing or cut.standing or Standing()
    drained = standing is not None
    write_metadata(path, metadata_of(job, description, batch_id, stood, cut.pending, drained))


def save_for_next_generation(job: JobExecution, spark: Any, directory: CheckpointDirectory) -> str | None:
    """Writes what the present generation has committed to where the next one begins.

    The job's plan may already be another one than the generation's: the directory says what that was.

    Returns:
        The savepoint, or the one that the present generation begins with if it has committed nothing.
    """
    _refuse_endless_frames(job)
    generation, there = directory.generation, directory.content
    cut = committed_cut(generation)
    if cut is None or (cut.standing is not None and cut.standing.restored is not None):
        return generation.origin
    path = directory.origin_of_next()
    fs, root = file_system(path)
    fs.delete(root)
    StateVersion(generation.spark_directory, cut.batch, there["levels"], there["subtask_ids"]).write(spark, path)
    _write_metadata(job, Description.from_json(there["description"], there["states"]), generation, cut, path)
    return path
