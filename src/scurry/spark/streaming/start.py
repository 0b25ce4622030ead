"""Decide how a job starts on a checkpoint directory: fresh, resumed or from a savepoint."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from scurry.graph.plan import JobPlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.savepoint.reading import Savepoint
from scurry.runtime.savepoint.restore import Restore, open_for, savepoint_to_start_from, with_key_groups
from scurry.runtime.state.evolution.job import Collected, plan_migration
from scurry.spark.checkpoint.assignment_log import AssignmentLog
from scurry.spark.checkpoint.committed import latest_committed
from scurry.spark.checkpoint.generations import CheckpointDirectory, differences, identity
from scurry.spark.checkpoint.recovery import Recovery
from scurry.spark.frames import materialize
from scurry.spark.savepoint.taker import save_for_next_generation
from scurry.spark.streaming.adaptive import AdaptiveScheduler
from scurry.spark.workers.partitioning import spread
from scurry.spark.workers.schemas import collect_on_worker


class JobStart:
    """Start a job on its checkpoint directory.

    Args:
        job: The job.
        root: The directory.
        directory: The same, as generations.
        session: Returns the session.
        scheduler: Returns the adaptive scheduler, None if the program sets the parallelism.
    """

    def __init__(
        self,
        job: JobExecution,
        root: str,
        directory: CheckpointDirectory,
        session: Callable[[], Any],
        scheduler: Callable[[], AdaptiveScheduler | None],
    ) -> None:
        self._job, self._root, self._directory, self._session = job, root, directory, session
        self._scheduler = scheduler
        self._collected: Collected | None = None
        self._savepoint: Savepoint | None = None
        #: the savepoint that the current generation has to restore, if any
        self.restore: Restore | None = None

    def make(self) -> bool:
        """Prepare the directory for the job; return False if there is nothing left to run."""
        job, directory = self._job, self._directory
        directory.clear_leftovers()
        if directory.content:
            groups = directory.content["description"]["max_parallelism"]
            job.use(with_key_groups(groups, job.plan, f"the checkpoint in {self._root}"))
            if directory.generation.finished and not self._new_savepoint():
                job.log.note(
                    f"nothing left to do: all input was processed and committed before, says {self._root}; "
                    "to run the job again, give it another execution.checkpointing.dir or empty this one"
                )
                return False
        savepoint = self._new_savepoint()
        if savepoint is not None:
            self._opened(savepoint)  # before anything is started or written
        scheduler = self._scheduler()
        if scheduler is not None and not self._adapt(scheduler, savepoint):
            return False
        if savepoint is not None:
            self._prepare(job.plan)
            self._begin(job.plan, savepoint, savepoint)
            job.log.note(f"starting from the savepoint {savepoint}", "restored")
        elif not directory.content:
            self._prepare(job.plan)
            directory.begin(job.plan)
        else:
            self._go_on()
        return True

    def _adapt(self, scheduler: AdaptiveScheduler, savepoint: str | None) -> bool:
        """Give the plan the parallelism that executors and key groups allow; return False if the job was stopped."""
        job = self._job
        if savepoint is not None:
            job.use(with_key_groups(self._opened(savepoint).metadata.max_parallelism, job.plan, savepoint))
        plan = scheduler.start()
        if plan is None:
            return False
        job.use(plan)
        self._session().conf.set("spark.sql.shuffle.partitions", str(plan.settings.parallelism))
        return True

    def _new_savepoint(self) -> str | None:
        """Return the savepoint that the user names, unless the directory began with it: its checkpoints are newer."""
        savepoint = savepoint_to_start_from(self._job.plan)
        return savepoint if savepoint != self._directory.savepoint else None

    def _opened(self, path: str) -> Savepoint:
        """Return a savepoint to begin with, checked once; one that the user names may be written by another user."""
        if self._savepoint is None or self._savepoint.path != path:
            named = path in (savepoint_to_start_from(self._job.plan), self._directory.savepoint)
            self._savepoint = open_for(self._job.plan, path, self._job.log.note, own=not named)
        return self._savepoint

    def _go_on(self) -> None:
        """Resume the current generation, or begin another one with its state if the program has changed."""
        job, directory = self._job, self._directory
        self._prepare(job.plan)
        Recovery(job, self._session(), directory.generation).restart_point()  # rolls back damage first
        changes = differences(directory.content, identity(job.plan))
        if changes:
            what = "program has" if self._scheduler() is None else "program or the number of task slots has"
            job.log.note(f"the {what} changed since the checkpoint in {self._root}: {'; '.join(changes)}")
            self.move(job.plan)
        elif self._interrupted():
            self._begin(job.plan, directory.generation.origin, directory.savepoint)
        elif directory.generation.origin is not None and AssignmentLog(directory.generation.storage).last() is None:
            job.use(self._restored(job.plan, directory.generation.origin, self._states()))
        elif not job.attempt:
            self._check_states()

    def _interrupted(self) -> bool:
        """Return whether the generation was stopped before it had restored the state it begins with."""
        generation = self._directory.generation
        if generation.origin is None or AssignmentLog(generation.storage).last() is None:
            return False
        committed = latest_committed(generation)
        return (
            committed is None or committed.source_positions is None or committed.source_positions.restored is not None
        )

    def _check_states(self) -> None:
        """Compare the program's states with the stored ones, and begin a generation that converts them if needed."""
        job, stored = self._job, self._directory.content["states"]
        if not stored:
            return
        migration = plan_migration(job.plan, stored, self._states(), wall_clock_ms())
        if migration.operators:
            job.log.note(f"the program's states have changed since the checkpoint in {self._root}")
            self.move(job.plan)
        else:
            migration.attach(job.plan)
            job.took_over(migration)

    def _states(self) -> Collected:
        """Return the states that the program's functions register."""
        if self._collected is None:
            self._collected = collect_on_worker(self._session(), self._job.plan)
        return self._collected

    # ---------------------------------------------------------------- beginning a generation

    def move(self, plan: JobPlan, changed: bool = True) -> None:
        """Begin a generation of another plan with the state of the present one.

        Args:
            plan: The plan.
            changed: Whether its functions may have changed.
        """
        self._prepare(plan)
        self._savepoint = None  # the origin may be rewritten
        origin = save_for_next_generation(self._job, self._session(), self._directory)
        self._session().conf.set("spark.sql.shuffle.partitions", str(plan.settings.parallelism))
        self._begin(plan, origin, self._directory.savepoint, changed)

    def _begin(self, plan: JobPlan, origin: str | None, savepoint: str | None, changed: bool = True) -> None:
        self.restore = None
        if origin is not None:
            plan = self._restored(plan, origin, self._states() if changed else None)
            self._prepare(plan)
        self._job.use(plan)
        self._directory.begin(plan, origin, savepoint, self._job.state_schemas)

    def _restored(self, plan: JobPlan, origin: str, collected: Collected | None) -> JobPlan:
        """Let the job restore a savepoint; return the plan that fits it."""
        self.restore = Restore.configured(self._opened(origin), plan, collected)
        self._job.took_over(self.restore.migration)
        return self.restore.plan

    def _prepare(self, plan: JobPlan) -> None:
        self._write_down_frames(plan)
        plan.subtask_ids = spread(len(plan.subtask_ids), plan.settings.parallelism)
        self._directory.adopt(plan)

    def _write_down_frames(self, plan: JobPlan) -> None:
        for source in plan.sources.values():
            if not source.source.native and source.source.bounded:
                # a streaming query cannot read a batch DataFrame: read its rows from files
                source.source = materialize(source, os.path.join(self._root, "frames", str(source.id)))
