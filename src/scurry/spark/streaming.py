"""STREAMING: a plan as structured streaming queries, one for each generation of the job."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from functools import cached_property
from typing import Any

from scurry.runtime.control import RescaleRequest
from scurry.runtime.job import JobExecution
from scurry.runtime.savepoint.restore import Restore, savepoint_to_start_from, with_key_groups
from scurry.spark.assignments import AssignmentLog, AssignmentStream
from scurry.spark.cut import committed_cut
from scurry.spark.directory import hold_directory
from scurry.spark.feeder import Feeder
from scurry.spark.frames import snapshot
from scurry.spark.generations import CheckpointDirectory, Generation, differences, identity
from scurry.spark.partitioning import spread
from scurry.spark.query import StreamingQuery
from scurry.spark.savepoints import SavepointTaker, save_for_next_generation
from scurry.spark.session import session_for
from scurry.spark.storage import LocalStorage, storage_for


class StreamingRunner:
    """Runs a plan until its sources end or it is told to stop.

    A job without a directory of checkpoints has a temporary one, which its restarts go on from.
    """

    def __init__(self) -> None:
        self._directory: str | None = None

    def run(self, job: JobExecution) -> None:
        """Runs the job; after a failure it may be called again."""
        if self._directory is None:
            self._directory = hold_directory(job)
        _Run(job, self._directory, lasting=job.plan.settings.checkpoint_dir is not None).run()


class _Run:
    """One run of a job on a directory of checkpoints, which may hold what an earlier run left."""

    def __init__(self, job: JobExecution, directory: str, lasting: bool) -> None:
        self._job = job
        self._root, self._lasting = directory, lasting
        storage = storage_for(directory, lambda: self._spark) if lasting else LocalStorage(directory, durable=False)
        self._directory = CheckpointDirectory(directory, storage)

    @cached_property
    def _spark(self) -> Any:
        return session_for(self._job.plan)

    def run(self) -> None:
        """Runs the job, or only says that an earlier run has finished it."""
        if not self._claim():
            return
        while True:
            generation = self._directory.generation
            query = self._query(generation)
            ended = query.run()
            if query.rescaling is None:
                break
            self._rescale(query.rescaling)
        self._job.finish()
        if ended:
            generation.finish()

    # ---------------------------------------------------------------- whose checkpoint it is

    def _claim(self) -> bool:
        """Makes the directory the job's, or finds that it is; returns whether there is anything left to do."""
        job, directory = self._job, self._directory
        if directory.content:
            groups = directory.content["description"]["max_parallelism"]
            job.use(with_key_groups(groups, job.plan, f"the checkpoint in {self._root}"))
        savepoint = savepoint_to_start_from(job.plan)
        from_savepoint = savepoint is not None and savepoint != directory.savepoint
        restore = Restore.into(savepoint, job.plan) if savepoint is not None and from_savepoint else None
        if restore is not None:
            job.use(restore.plan)
        self._write_down_frames()
        self._spread(job.plan)
        directory.adopt(job.plan)
        if restore is not None or not directory.content:
            directory.begin(job.plan, savepoint, savepoint)
            if savepoint is not None:
                job.note(f"starting from the savepoint {savepoint}")
        elif directory.generation.finished:
            job.note(
                f"nothing left to do: all input was processed and committed before, says {self._root}; "
                "to run the job again, give it another execution.checkpointing.dir or empty this one"
            )
            return False
        elif changes := differences(directory.content, identity(job.plan)):
            job.note(f"the program has changed since the checkpoint in {self._root}: {'; '.join(changes)}")
            self._move(job.plan)
        return True

    def _spread(self, plan: Any) -> None:
        plan.subtask_ids = spread(len(plan.subtask_ids), plan.settings.parallelism)

    def _write_down_frames(self) -> None:
        for source in self._job.plan.sources.values():
            if not source.source.native and source.source.bounded:
                # a streaming query cannot read a batch DataFrame; its rows, once written down, are a source like others
                source.source = snapshot(source, os.path.join(self._root, "frames", str(source.id)))

    def _rescale(self, request: RescaleRequest) -> None:
        plan = self._job.plan
        assert plan.rebuild is not None
        try:
            plan = plan.rebuild(replace(plan.settings, parallelism=request.parallelism))
            self._spread(plan)
            self._move(plan)
        except BaseException as error:
            request.future.set_exception(error)
            raise
        request.future.set_result(None)

    def _move(self, plan: Any) -> None:
        """Begins a generation of another plan with the state of the present one."""
        origin = save_for_next_generation(self._job, self._spark, self._directory)
        restore = Restore.into(origin, plan) if origin is not None else None
        plan = restore.plan if restore is not None else plan
        self._spark.conf.set("spark.sql.shuffle.partitions", str(plan.settings.parallelism))
        self._directory.begin(plan, origin, self._directory.savepoint)
        self._job.use(plan)

    # ---------------------------------------------------------------- a generation

    def _query(self, generation: Generation) -> StreamingQuery:
        job, spark = self._job, self._spark
        assignments = AssignmentStream(spark, generation.storage)
        restore = None
        if generation.origin is not None:
            standing = AssignmentLog(generation.storage).last()
            if standing is None or standing.restored is not None:
                restore = Restore.into(generation.origin, job.plan)
        feeder = Feeder(job, assignments, restore)
        if feeder.recovered and not job.attempt:
            job.note(f"going on from the checkpoint in {self._root}")
        threading.Thread(target=self._clean_up, args=(generation,), name="scurry-cleaner", daemon=True).start()
        return StreamingQuery(job, spark, generation, assignments, feeder, SavepointTaker(job, spark, generation))

    def _clean_up(self, generation: Generation) -> None:
        """Deletes what only the start of the generation needed, once the state it begins with is committed."""
        while self._directory.generation.number == generation.number:
            cut = committed_cut(generation)
            if generation.origin is None or (cut and cut.standing and cut.standing.restored is None):
                self._directory.forget_earlier()
                return
            time.sleep(1)
