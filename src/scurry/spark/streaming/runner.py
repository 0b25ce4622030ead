"""Run a plan in STREAMING mode, as one structured streaming query for each generation of the job."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cached_property
from typing import Any

from scurry.runtime.checkpoint.directory import hold_directory
from scurry.runtime.checkpoint.storage import LocalStorage
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import Request, RescaleRequest
from scurry.runtime.driver.scaling import Scaling
from scurry.runtime.driver.streaming import Finished, Rescaled, StreamingDriver
from scurry.spark.checkpoint.assignment_log import AssignmentLog, LogEntry
from scurry.spark.checkpoint.generations import CheckpointDirectory, Generation, latest_committed
from scurry.spark.checkpoint.recovery import Recovery
from scurry.spark.checkpoint.rollback import delete_state
from scurry.spark.checkpoint.storage import storage_for
from scurry.spark.savepoint.taker import SavepointTaker
from scurry.spark.session.session import session_for
from scurry.spark.streaming.adaptive import AdaptiveScheduler, adaptive_scheduler
from scurry.spark.streaming.assignment_stream import AssignmentStream
from scurry.spark.streaming.engine import SparkEngine
from scurry.spark.streaming.start import SparkJobStart
from scurry.spark.workers.failures import noticing_lost_spark


class StreamingRunner:
    """Run a plan until its sources end or it is stopped.

    A job without a checkpoint directory gets a temporary one, from which its restarts resume.
    """

    def __init__(self) -> None:
        self._directory: str | None = None
        self._scaling: Scaling | None = None

    @noticing_lost_spark()
    def run(self, job: JobExecution) -> None:
        """Run the job; may be called again after a failure."""
        if self._directory is None:
            self._directory = hold_directory(job, lambda root: storage_for(root, lambda: session_for(job.plan)))
            self._scaling = Scaling.of(job.plan.settings)
        lasting = job.plan.settings.checkpoint_dir is not None
        _Run(job, self._directory, lasting, self._scaling).run()


class _Run:
    """One run of a job on a checkpoint directory, which may hold the checkpoints of an earlier run."""

    def __init__(self, job: JobExecution, root: str, lasting: bool, scaling: Scaling | None) -> None:
        self._job, self._scaling = job, scaling
        self._root = root
        storage = storage_for(root, lambda: self._spark) if lasting else LocalStorage(root, durable=False)
        self._directory = CheckpointDirectory(root, storage)
        self._start = SparkJobStart(job, root, self._directory, lambda: self._spark, lambda: self._scheduler)

    @cached_property
    def _spark(self) -> Any:
        return session_for(self._job.plan)

    @cached_property
    def _scheduler(self) -> AdaptiveScheduler | None:
        return None if self._scaling is None else adaptive_scheduler(self._job, self._spark, self._scaling)

    def run(self) -> None:
        """Run the job, or only report that an earlier run has finished it."""
        loadable = False
        while self._start.make():
            before = self._job.totals.batches
            try:
                return self._run_generations()
            except Exception as error:
                recovery = Recovery(self._job, self._spark, self._directory.generation)
                recovery.raise_if_full(error)
                began = self._job.totals.batches > before
                if began or not recovery.failed_to_load_state(error):
                    raise
                if not recovery.roll_back_unreadable_state():
                    # Spark may have uploaded a snapshot since, with which the damaged file is not read: try once
                    if loadable:
                        raise
                    loadable = True

    def _run_generations(self) -> None:
        while True:
            generation = self._directory.generation
            driver, over = self._driver(generation), threading.Event()
            if generation.origin is not None:
                args = (generation, over)
                threading.Thread(target=self._clean_up, args=args, name="scurry-cleaner", daemon=True).start()
            if self._scheduler is not None:
                self._scheduler.began()
            try:
                outcome = driver.run()
            finally:
                over.set()
            if not isinstance(outcome, Rescaled):
                break
            self._rescale(outcome.request)
        self._job.sinks.finish()
        if isinstance(outcome, Finished):
            generation.finish()
            self._job.protocol.step("finished")

    def _rescale(self, request: RescaleRequest) -> None:
        plan, after = self._job.plan, request.parallelism
        assert plan.rebuild is not None
        try:
            with self._job.log.rescaling(plan.settings.parallelism, after, request.asked_by):
                self._start.move(plan.rebuild(replace(plan.settings, parallelism=after)), changed=False)
        except BaseException as error:
            request.future.set_exception(error)
            raise
        request.future.set_result(None)

    def _driver(self, generation: Generation) -> StreamingDriver:
        job, spark = self._job, self._spark
        point = Recovery(job, spark, generation).restart_point()
        if generation.committed() is None:
            delete_state(generation.storage)
        files = generation.run_files(spark)
        if files is not None:
            files.delete_after(point.committed)
        assignments = AssignmentStream(spark, AssignmentLog(generation.storage), point, self._trace_entry)
        savepoints = SavepointTaker(job, spark, generation)
        engine = SparkEngine(job, spark, generation, assignments, savepoints, self._directory)
        driver = StreamingDriver(job, engine, self._start.restore, self._next_request)
        job.protocol.step("started", generation.number, point.committed + 1, assignments.next_offset)
        if driver.recovered and not job.attempt:
            job.log.note(f"resuming from the checkpoint in {self._root}", "resumed")
        return driver

    def _trace_entry(self, entry: LogEntry) -> None:
        restoring = int(entry.source_positions.restored is not None)
        self._job.protocol.step("assigned", entry.offset, entry.end, restoring)

    def _next_request(self) -> Request | None:
        """Return the next request of a user, else that of the adaptive scheduler."""
        request, scheduler = self._job.requests.take(), self._scheduler
        if scheduler is None:
            return request
        if isinstance(request, RescaleRequest):
            scheduler.bound(request.parallelism)
        return request or scheduler.request()

    def _clean_up(self, generation: Generation, over: threading.Event) -> None:
        """Delete the files of earlier generations once the state that this one begins with is committed."""
        while not over.wait(1):
            committed = latest_committed(generation)
            if (
                committed is not None
                and committed.source_positions is not None
                and committed.source_positions.restored is None
            ):
                self._directory.forget_earlier()
                return
