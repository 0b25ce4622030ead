"""Start a job on the checkpoint directory of a streaming query."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from scurry.errors import CheckpointCorruptedError, CheckpointMismatchError
from scurry.graph.plan import JobPlan
from scurry.runtime.checkpoint.identity import differences, identity
from scurry.runtime.checkpoint.output import output_of_sinks
from scurry.runtime.checkpoint.start import JobStart
from scurry.runtime.checkpoint.storage import DamagedFileError
from scurry.runtime.driver.job import BatchOutput, JobExecution
from scurry.runtime.driver.sink_commits import SinkCommits
from scurry.runtime.savepoint.restore import with_key_groups
from scurry.runtime.state.evolution.job import Collected
from scurry.spark.checkpoint.assignment_log import AssignmentLog
from scurry.spark.checkpoint.generations import CheckpointDirectory, latest_committed
from scurry.spark.checkpoint.prepared import commit, prepared_batch
from scurry.spark.checkpoint.recovery import Recovery
from scurry.spark.checkpoint.rollback import not_computed_again
from scurry.spark.frames import materialize
from scurry.spark.savepoint.taker import save_for_next_generation
from scurry.spark.streaming.adaptive import AdaptiveScheduler
from scurry.spark.streaming.partitions import configured_partitions, fitting_partitions, partitions_to_keep
from scurry.spark.streaming.stages import collect_on_worker
from scurry.spark.workers.partitioning import spread


class SparkJobStart(JobStart):
    """Start a job on its checkpoint directory.

    Args:
        directory: The same, as generations.
        scheduler: Returns the adaptive scheduler, None if the program sets the parallelism.
    """

    _directory: CheckpointDirectory

    def __init__(
        self,
        job: JobExecution,
        root: str,
        directory: CheckpointDirectory,
        session: Callable[[], Any],
        scheduler: Callable[[], AdaptiveScheduler | None],
    ) -> None:
        super().__init__(job, root, directory)
        self._session = session
        self._scheduler = scheduler
        #: the number of Spark's partitions by that of subtasks: executors may come while the job starts
        self._partitions: dict[int, int] = {}

    def _adapt(self, savepoint: str | None) -> bool:
        """Give the plan the parallelism that executors and key groups allow; return False if the job was stopped."""
        scheduler, job = self._scheduler(), self._job
        if scheduler is None:
            return True
        self._changing = "program or the number of task slots has"
        if savepoint is not None:
            job.use(with_key_groups(self._opened(savepoint).metadata.max_parallelism, job.plan, savepoint))
        plan = scheduler.start()
        if plan is None:
            return False
        job.use(plan)
        return True

    def move(self, plan: JobPlan, changed: bool = True) -> None:
        """Begin a generation of another plan with the state of the present one, whose last batch is committed before.

        Batches of another plan have other output: sinks that have committed one by its id would leave that out, or
        have records twice.
        """
        self._prepare(plan)
        self._commit_prepared(plan)
        self._refuse_rolled_back(plan)
        try:
            super().move(plan, changed)
        except Exception:
            if self._recovery().roll_back_unreadable_state():  # what it begins with cannot be read
                self._refuse_rolled_back(plan)
            raise

    def _recovery(self) -> Recovery:
        return Recovery(self._job, self._session(), self._directory.generation)

    def _refuse_rolled_back(self, plan: JobPlan) -> None:
        """Refuse another plan while batches that were rolled back, and that sinks may know, are not computed again."""
        generation, there = self._directory.generation, self._directory.content
        last = not_computed_again(generation.storage, generation.committed())
        if last is None:
            return
        changes = differences(there, identity(plan)) or ["states have changed"]
        raise CheckpointMismatchError(
            f"the checkpoint in {self._root} has batches that sinks may know and that have to be computed again, as "
            "files were damaged or the job was killed while it repeated them, and the program has changed "
            f"({'; '.join(changes[:3])}): other output would be left out. Start the program once "
            f"as it was, at parallelism {there['parallelism']}, until batch {generation.first_batch + last} is "
            "committed, and change it then; or start from a savepoint"
        )

    def _commit_prepared(self, plan: JobPlan) -> None:
        """Let the sinks commit, and Spark, if the job ended after all tasks of a batch and before Spark's commit."""
        generation = self._directory.generation
        try:
            prepared = prepared_batch(generation.storage, generation.committed())
        except DamagedFileError as error:
            cure = "Start the program as it was once more, which commits that batch itself"
            if self._interrupted():  # it would restore the state again, and not repeat the batch
                cure = "Restore that file from a copy, or start from a savepoint in another execution.checkpointing.dir"
            raise CheckpointCorruptedError(f"the checkpoint in {self._root} is damaged: {error}. {cure}") from None
        if prepared is None:
            return
        batch, output = generation.first_batch + prepared.batch, output_of_sinks(plan, prepared.output, self._root)
        SinkCommits(plan).commit(batch, BatchOutput(output).take_committables())
        commit(generation.storage, prepared.batch)
        self._job.protocol.step("settled", batch)
        self._job.log.note(f"batch {batch} is committed: all its tasks had ended", "resumed", logger="checkpoint")

    def _prepare(self, plan: JobPlan) -> None:
        self._write_down_frames(plan)
        subtasks = len(plan.subtask_ids)
        if subtasks not in self._partitions:
            self._partitions[subtasks] = self._partitions_for(subtasks, plan)
        plan.partitions = self._partitions[subtasks]
        plan.subtask_ids = self._directory.subtask_ids(plan) or spread(subtasks, plan.partitions)
        super()._prepare(plan)

    def _partitions_for(self, subtasks: int, plan: JobPlan) -> int:
        self._directory.know_partitions()
        given = configured_partitions(plan)
        if given is not None:
            return given
        content = self._directory.content
        if len(content.get("subtask_ids", ())) != subtasks:
            return fitting_partitions(subtasks, self._session())
        there: int = content["partitions"]
        if not all(source.source.native or source.source.bounded for source in plan.sources.values()):
            return there  # Spark keeps the position of a streaming DataFrame: it cannot move to another generation
        return partitions_to_keep(there, subtasks, self._session())

    def _write_down_frames(self, plan: JobPlan) -> None:
        for source in plan.sources.values():
            if not source.source.native and source.source.bounded:
                # a streaming query cannot read a batch DataFrame: read its rows from files
                source.source = materialize(source, os.path.join(self._root, "frames", str(source.id)))

    def _repair(self) -> None:
        generation = self._directory.generation
        self._recovery().restart_point()
        if self._interrupted() and not_computed_again(generation.storage, generation.committed()) is not None:
            # the state would be restored anew, and other output get the ids of batches that sinks know
            raise CheckpointCorruptedError(
                f"damaged batches of the checkpoint in {self._root} were rolled back to one before the state of "
                f"{self._directory.origin} was restored whole, and sinks may have their output. Restore the files from "
                "a copy, or start from a savepoint in another execution.checkpointing.dir"
            )

    def _fresh(self) -> bool:
        return AssignmentLog(self._directory.generation.storage).last() is None

    def _interrupted(self) -> bool:
        generation = self._directory.generation
        if generation.origin is None or self._fresh():
            return False
        committed = latest_committed(generation)
        return (
            committed is None or committed.source_positions is None or committed.source_positions.restored is not None
        )

    def _collect(self) -> Collected:
        return collect_on_worker(self._session(), self._job.plan)

    def _save_state(self, plan: JobPlan) -> str | None:
        return save_for_next_generation(self._job, self._session(), self._directory)
