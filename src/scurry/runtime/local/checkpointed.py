"""STREAMING in this process with a checkpoint directory: the job resumes when it is started again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

from scurry.errors import ConfigError
from scurry.graph.plan import JobPlan
from scurry.runtime.checkpoint.directory import hold_directory
from scurry.runtime.checkpoint.start import JobStart
from scurry.runtime.checkpoint.storage import LocalStorage, local_storage_for
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import RescaleRequest
from scurry.runtime.driver.steps import Steps
from scurry.runtime.driver.streaming import Finished, Rescaled, StreamingDriver
from scurry.runtime.local.checkpoints import LocalCheckpoints
from scurry.runtime.local.streaming import LocalEngine, Memory, plan_loader, write_savepoint
from scurry.runtime.savepoint.metadata import Description
from scurry.runtime.savepoint.schemas import collect_schemas
from scurry.runtime.state.evolution.job import Collected


def hold_local_directory(job: JobExecution) -> str:
    """Lock and return the checkpoint directory, which a job holds until it ends, over its restarts.

    Raises:
        ConfigError: The directory is not on a local disk.
        SavepointTrustError: Other users can write to it.
        CheckpointLockedError: Another process uses it.
    """
    return hold_directory(job, _local_storage)


class CheckpointedRun:
    """Run a job on its checkpoint directory.

    Args:
        root: The directory, which the job holds.
        wall_clock: Returns processing time, in milliseconds; the job's if not given.
        threads: Whether sources may be read in threads, side by side.
    """

    def __init__(
        self, job: JobExecution, root: str, wall_clock: Callable[[], int] | None = None, threads: bool = True
    ) -> None:
        self._job, self._wall_clock, self._threads = job, wall_clock, threads
        self._root = root
        self._checkpoints = LocalCheckpoints(_local_storage(self._root))
        job.cleanup.callback(self._checkpoints.close)

    def steps(self) -> Steps[None]:
        """Run the job, or only report that an earlier run has finished it; may be called again after a failure."""
        job, checkpoints = self._job, self._checkpoints
        start = _LocalJobStart(job, self._root, checkpoints)
        if not start.make():
            return
        interval = job.plan.settings.checkpoint_interval_ms or 0
        while True:
            self._commit_rest()
            memory = Memory(checkpoints.next_batch, checkpoints.load(), checkpoints.positions())
            engine = LocalEngine(job, memory, self._wall_clock, checkpoints, self._threads)
            driver = StreamingDriver(job, engine, start.restore, interval_ms=interval, wall_clock=self._wall_clock)
            numbers = checkpoints.content["generation"], checkpoints.next_batch
            job.protocol.step("started", *numbers, positions=checkpoints.pickled_positions)
            if driver.recovered and not job.attempt:
                job.log.note(f"resuming from the checkpoint in {self._root}", "resumed")
            outcome = yield from driver.steps()
            if not isinstance(outcome, Rescaled):
                break
            self._rescale(start, outcome.request)
        job.sinks.finish()
        if isinstance(outcome, Finished):
            checkpoints.finish()
            job.protocol.step("finished")

    def _commit_rest(self) -> None:
        """Let the sinks commit the output of the last checkpoint, if the job has ended before they had."""
        rest = self._checkpoints.uncommitted(self._job.plan)
        if rest is not None:
            self._job.start_clock()
            batch_id = self._checkpoints.next_batch - 1
            self._job.commit_output(batch_id, rest)
            self._job.protocol.step("output", batch_id)
            self._checkpoints.committed()
            self._job.protocol.step("noted", batch_id)

    def _rescale(self, start: JobStart, request: RescaleRequest) -> None:
        plan, after = self._job.plan, request.parallelism
        assert plan.rebuild is not None
        try:
            with self._job.log.rescaling(plan.settings.parallelism, after, request.asked_by):
                start.move(plan.rebuild(replace(plan.settings, parallelism=after)), changed=False)
        except BaseException as error:
            request.future.set_exception(error)
            raise
        request.future.set_result(None)


class _LocalJobStart(JobStart):
    _directory: LocalCheckpoints

    def _fresh(self) -> bool:
        return self._directory.positions() is None

    def _interrupted(self) -> bool:
        positions = self._directory.positions()
        return positions is not None and positions.restored is not None

    def _collect(self) -> Collected:
        return collect_schemas(plan_loader(self._job.plan))

    def _save_state(self, plan: JobPlan) -> str | None:
        directory, there = self._directory, self._directory.content
        positions = directory.positions()
        if positions is None or positions.restored is not None:
            return directory.origin
        path = directory.origin_of_next()
        shutil.rmtree(path, ignore_errors=True)
        description = Description.from_json(there["description"], there["states"])
        batch_id = directory.next_batch - 1
        write_savepoint(path, directory.load(), self._job.as_saved(), description, batch_id, positions)
        return path


def _local_storage(root: str) -> LocalStorage:
    storage = local_storage_for(root)
    if storage is None:
        raise ConfigError(
            f"execution.checkpointing.dir {root}: the in-process runner keeps checkpoints on a local disk; name a "
            "directory there, or run the job on Spark (--runner spark)"
        )
    return storage
