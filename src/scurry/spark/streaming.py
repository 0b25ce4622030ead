"""STREAMING: a plan as one structured streaming query."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from functools import cached_property
from typing import Any

from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.feeding import Alignment, limits_of
from scurry.runtime.job import JobExecution
from scurry.runtime.wire import MAX_TIME, MIN_TIME, SCHEMA
from scurry.spark.assignments import CONTROL_SOURCE, AssignmentStream, Standing
from scurry.spark.failures import failure_of
from scurry.spark.final_rows import final_rows
from scurry.spark.frames import frame_on, snapshot
from scurry.spark.identity import Claim
from scurry.spark.partitioning import spread
from scurry.spark.session import session_for
from scurry.spark.stages import close_everywhere, frame_stage, has_staged_sinks, sink_stage, source_stage
from scurry.spark.storage import storage_for
from scurry.spark.worker import Job


class StreamingRunner:
    """Runs a plan until its sources end or it is told to stop."""

    def run(self, job: JobExecution) -> None:
        """Runs the job."""
        configured = job.plan.settings.checkpoint_dir
        if configured is not None:
            _Run(job, configured).run()
            return
        temporary = tempfile.mkdtemp(prefix="scurry-")
        try:
            _Run(job, temporary, lasting=False).run()
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


class _Run:
    """One run of a job on a directory of checkpoints, which may hold what an earlier run left."""

    def __init__(self, job: JobExecution, directory: str, lasting: bool = True) -> None:
        self._job = job
        self._plan = job.plan
        self._directory = directory
        self._storage = storage_for(directory, lambda: self._spark) if lasting else None

    @cached_property
    def _spark(self) -> Any:
        return session_for(self._plan)

    def run(self) -> None:
        """Runs the job, or only says that an earlier run has finished it."""
        claim = Claim.of(self._plan, self._directory, self._storage) if self._storage is not None else None
        if claim is not None and claim.finished:
            self._job.note(
                f"nothing left to do: all input was processed and committed before, says {self._directory}; "
                "to run the job again, give it another execution.checkpointing.dir or empty this one"
            )
            return
        query = _Query(self._job, self._spark, self._directory, AssignmentStream(self._spark, self._storage))
        if query.run() and claim is not None:
            claim.finish()


class _Query:
    """The streaming query and what feeds it."""

    def __init__(self, job: JobExecution, spark: Any, directory: str, assignments: AssignmentStream) -> None:
        plan = job.plan
        self._job, self._plan, self._spark = job, plan, spark
        self._directory, self._assignments = directory, assignments
        for source in plan.sources.values():
            if not source.source.native and source.source.bounded:
                # a streaming query cannot read a batch DataFrame; its rows, once written down, are a source like others
                source.source = snapshot(source, os.path.join(directory, "frames", str(source.id)))
        plan.subtask_ids = spread(len(plan.subtask_ids), plan.settings.parallelism)
        self._worker_job = Job.of(str(job.job_id), plan)
        self._native = [source for source in plan.sources.values() if source.source.native]
        limits = limits_of(plan)
        self._enumerators = {s.id: s.source.create_enumerator(s.parallelism, limits) for s in self._native}
        self._alignment = Alignment(job)
        self._open_channels = {(s.uid, i) for s in self._native for i in range(s.channels)}
        self._ended: set[tuple[str, int]] = set()
        self._committed = threading.Event()
        #: whether something was fed and no batch has been committed since: more would make the next batch too large
        self._pending = False
        self._tick_seconds = int(plan.settings.configuration.get("scurry.tick-interval", 200)) / 1000
        self._error: BaseException | None = None

    # ---------------------------------------------------------------- life cycle

    def run(self) -> bool:
        """Runs until the sources end or the job is told to stop; returns whether all input is committed."""
        try:
            self._recover()
            self._feed()
            self._job.start_clock()
            query = self._start()
            try:
                ended = self._drive(query)
            finally:
                query.stop()
            self._job.finish()
            return ended
        finally:
            close_everywhere(self._spark, self._plan, self._worker_job)
            for enumerator in self._enumerators.values():
                enumerator.close()

    def _recover(self) -> None:
        standing = self._assignments.recover()
        if standing is None:
            return
        self._ended = standing.ended
        self._open_channels -= standing.ended
        for source in self._native:
            self._enumerators[source.id].restore(standing.positions[source.uid])
            for channel in range(source.channels):
                if (source.uid, channel) in standing.ended:  # it will not say again that nobody need wait for it
                    self._job.totals.source_watermarks[source.id, channel] = MAX_TIME
        self._job.note(f"going on from the checkpoint in {self._directory}")

    def _start(self) -> Any:
        plan = self._plan
        wire = self._assignments.frame().mapInArrow(source_stage(self._worker_job), SCHEMA)
        for source in plan.sources.values():
            if not source.source.native:
                frame = frame_on(self._spark, source.source)
                wire = wire.union(frame.mapInArrow(frame_stage(self._worker_job, source), SCHEMA))
        for level in range(1, plan.levels + 1):
            from scurry.spark.processor import LevelProcessor

            processor = LevelProcessor(self._worker_job, level)
            wire = wire.groupBy("subtask").transformWithState(processor, SCHEMA, "append", "none")
        if has_staged_sinks(plan):
            wire = wire.mapInArrow(sink_stage(self._worker_job), SCHEMA)
        writer = wire.writeStream.outputMode("append").foreachBatch(self._commit)
        writer = writer.option("checkpointLocation", os.path.join(self._directory, "spark"))
        writer = writer.trigger(processingTime=f"{plan.settings.checkpoint_interval_ms or 0} milliseconds")
        return writer.queryName(plan.settings.job_name).start()

    def _commit(self, frame: Any, batch_id: int) -> None:
        try:
            self._job.commit(batch_id, final_rows(frame, self._plan, self._worker_job))
            self._assignments.batch_ended()
            self._committed.set()
        except BaseException as error:
            if self._error is None:
                self._error = error
            raise

    # ---------------------------------------------------------------- feeding

    def _drive(self, query: Any) -> bool:
        """Feeds the query until every source has ended or the job is stopped, and waits for the last batch.

        Returns:
            Whether every source has ended.
        """
        fed = checked = time.monotonic()
        while not (self._job.stopping.is_set() or self._all_ended()):
            if time.monotonic() - checked > 0.25:  # asking the JVM costs more than all else here
                self._check(query)
                checked = time.monotonic()
            # new work as soon as a batch is committed: Spark finds it when it has written its own commit
            if self._committed.wait(0.01):
                self._committed.clear()
                self._pending = False
            if self._pending:
                continue
            if self._feed():
                fed = time.monotonic()
            elif self._plan.ticks and time.monotonic() - fed >= self._tick_seconds:
                fed = time.monotonic()
                self._tick()
        self._drain(query)
        return self._all_ended()

    def _feed(self) -> bool:
        """Asks the sources for more and passes it on."""
        found = []
        for source in self._native:
            if self._alignment.waits(source):
                continue
            for assignment in self._enumerators[source.id].next_batch():
                self._alignment.has_read(source)
                found.append((source.id, assignment.channel, assignment.work, assignment.final))
                if assignment.final:
                    self._ended.add((source.uid, assignment.channel))
        self._open_channels -= self._ended
        if found:
            self._add(found)
        return bool(found)

    def _add(self, assignments: list[tuple[int, int, Any, bool]]) -> None:
        self._pending = True
        positions = {source.uid: self._enumerators[source.id].position() for source in self._native}
        self._assignments.add(assignments, Standing(positions, self._ended))

    def _tick(self) -> None:
        """Lets processing time pass although no source has data."""
        self._add([(CONTROL_SOURCE, 0, (MIN_TIME, wall_clock_ms()), False)])

    def _all_ended(self) -> bool:
        return not self._open_channels and len(self._native) == len(self._plan.sources)

    def _idle(self, query: Any) -> bool:
        return not query.status["isTriggerActive"]

    def _drain(self, query: Any) -> None:
        """Waits until everything fed is processed and committed; of a DataFrame that never ends, the batch at hand."""
        try:
            if len(self._native) == len(self._plan.sources):
                query.processAllAvailable()
            else:
                self._committed.clear()
                while query.isActive and not (self._committed.wait(0.01) or self._idle(query)):
                    continue
        except Exception as error:
            raise self._failure(error) from error
        self._check(query)

    def _check(self, query: Any) -> None:
        if not query.isActive:
            raise self._failure(query.exception() or RuntimeError("the query stopped by itself"))

    def _failure(self, error: BaseException) -> BaseException:
        return failure_of(error, self._error)
