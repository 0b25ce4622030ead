"""The structured streaming query of one generation of a job, and who drives it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import Request, RescaleRequest, SavepointRequest
from scurry.runtime.exchange.wire import SCHEMA
from scurry.runtime.savepoint.taking import SourcePositions
from scurry.spark.checkpoint.generations import CheckpointDirectory, Generation
from scurry.spark.final_rows import final_rows
from scurry.spark.frames import in_session
from scurry.spark.savepoint.taker import SavepointTaker
from scurry.spark.streaming.assignment_stream import AssignmentStream
from scurry.spark.streaming.feeder import Feeder
from scurry.spark.streaming.progress import state_sizes
from scurry.spark.streaming.stages import close_everywhere, frame_stage, has_staged_sinks, sink_stage, source_stage
from scurry.spark.workers.failures import failure_of
from scurry.spark.workers.instances import Job

#: Seconds between looks at whether the query still runs: asking the JVM costs more than all else here.
_CHECK_SECONDS = 0.25


class StreamingQuery:
    """Runs one generation.

    Args:
        job: The job.
        spark: The session.
        generation: Where its checkpoint lies.
        assignments: The stream it reads.
        feeder: What feeds the stream.
        savepoints: Takes savepoints of it.
        directory: Keeps the schemas of its state.
        next_request: Takes the next request that nobody has answered, if there is one.
    """

    def __init__(
        self,
        job: JobExecution,
        spark: Any,
        generation: Generation,
        assignments: AssignmentStream,
        feeder: Feeder,
        savepoints: SavepointTaker,
        directory: CheckpointDirectory,
        next_request: Callable[[], Request | None],
    ) -> None:
        plan = job.plan
        self._job, self._plan, self._spark = job, plan, spark
        self._generation, self._assignments = generation, assignments
        self._feeder, self._savepoints, self._directory = feeder, savepoints, directory
        self._next_request = next_request
        # another name in each attempt, so that no worker goes on with functions of an earlier one
        name = f"{job.job_id}-{generation.number}-{job.next_start()}"
        self._worker_job = Job.of(name, plan, generation.first_batch)
        self._committed = threading.Event()
        #: whether something was fed and no batch has been committed since: more would make the next batch too large
        self._pending = False
        #: how long the last batch took, but for Spark's planning and its logs
        self._batch_seconds = 0.0
        self._tick_seconds = int(plan.settings.configuration.get("scurry.tick-interval", 200)) / 1000
        self._error: BaseException | None = None
        #: what the query was stopped for, if it was asked to
        self._stop: SavepointRequest | RescaleRequest | None = None
        self._stood: SourcePositions | None = None

    def run(self) -> bool:
        """Runs until the sources end or the job is told to stop; returns whether all input is committed."""
        try:
            self._feed()
            self._job.start_clock()
            query = self._start()
            try:
                ended = self._drive(query)
            finally:
                query.stop()
                self._savepoints.wait()
            self._answer_stop()
            return ended
        except BaseException as error:
            if self._stop is not None and not self._stop.future.done():
                self._stop.future.set_exception(error)
            raise
        finally:
            close_everywhere(self._spark, self._plan, self._worker_job)
            self._feeder.close()

    # ---------------------------------------------------------------- the query

    def _start(self) -> Any:
        plan = self._plan
        wire = self._assignments.frame().mapInArrow(source_stage(self._worker_job), SCHEMA)
        for source in plan.sources.values():
            if not source.source.native:
                frame = in_session(self._spark, source.source)
                wire = wire.union(frame.mapInArrow(frame_stage(self._worker_job, source), SCHEMA))
        for level in range(1, plan.levels + 1):
            from scurry.spark.streaming.processor import LevelProcessor

            processor = LevelProcessor(self._worker_job, level)
            wire = wire.groupBy("subtask").transformWithState(processor, SCHEMA, "append", "none")
        if has_staged_sinks(plan):
            wire = wire.mapInArrow(sink_stage(self._worker_job), SCHEMA)
        writer = wire.writeStream.outputMode("append").foreachBatch(self._commit)
        writer = writer.option("checkpointLocation", self._generation.spark_directory)
        interval = max(plan.settings.checkpoint_interval_ms or 0, plan.settings.checkpoint_pause_ms)
        writer = writer.trigger(processingTime=f"{interval} milliseconds")
        query = writer.queryName(plan.settings.job_name).start()
        self._assignments.started(query)
        self._job.checkpoints.state_sizes = lambda: state_sizes(query, self._generation.first_batch)
        return query

    def _commit(self, frame: Any, batch_id: int) -> None:
        begun = time.monotonic()
        try:
            self._job.commit(self._generation.first_batch + batch_id, final_rows(frame, self._plan, self._worker_job))
            self._directory.remember_states(self._job.state_schemas)
            self._assignments.batch_ended()
            self._batch_seconds = time.monotonic() - begun
            self._committed.set()
        except BaseException as error:
            if self._error is None:
                self._error = error
            raise

    # ---------------------------------------------------------------- feeding

    def _drive(self, query: Any) -> bool:
        """Feeds the query until every source has ended or the job is to stop, and waits for the last batch.

        Returns:
            Whether every source has ended.
        """
        fed = checked = time.monotonic()
        pause, rested = self._plan.settings.checkpoint_pause_ms / 1000, 0.0
        while not (self._job.stopping.is_set() or self._feeder.all_ended):
            if time.monotonic() - checked > _CHECK_SECONDS:
                self._check(query)
                checked = time.monotonic()
            if self._serve():
                break
            # new work as soon as a batch is committed: Spark finds it when it has written its own commit
            if self._committed.wait(0.01):
                self._committed.clear()
                self._pending = False
                self._feeder.committed(self._batch_seconds)
                rested = time.monotonic() + pause
            if self._pending:
                continue
            self._ask()
            if time.monotonic() < rested:
                continue
            if self._feed():
                fed = time.monotonic()
            elif self._plan.ticks and time.monotonic() - fed >= self._tick_seconds:
                fed = time.monotonic()
                self._pending = True
                self._feeder.tick()
        self._drain(query)
        self._feeder.committed(self._batch_seconds)
        return self._feeder.all_ended and self._stop is None

    def _feed(self) -> bool:
        fed = not self._assignments.replaying and self._feeder.feed()
        self._pending = self._pending or fed
        return fed

    def _ask(self) -> None:
        """Asks the questions that have come since the last batch began, all in one."""
        if not self._feeder.restoring and (questions := self._job.requests.questions()):
            self._pending = True
            self._feeder.ask(questions)

    def _serve(self) -> bool:
        """Answers what the job is asked; returns whether the query ends for it."""
        if self._feeder.restoring:
            return False
        request = self._next_request()
        if isinstance(request, SavepointRequest) and request.then == "go on":
            self._savepoints.begin(request)
        elif request is not None:
            self._stop = request
            if isinstance(request, SavepointRequest) and request.then == "drain":
                self._stood = self._feeder.end_of_input()
        return self._stop is not None

    def _answer_stop(self) -> None:
        """All is committed: takes the savepoint that the query was stopped for."""
        if isinstance(self._stop, SavepointRequest):
            self._savepoints.take(self._stop, self._stood)
            self._job.answer_at_end(self._stop.future, self._stop.path)

    @property
    def rescaling(self) -> RescaleRequest | None:
        """The request for another parallelism that the query was stopped for."""
        return self._stop if isinstance(self._stop, RescaleRequest) else None

    # ---------------------------------------------------------------- waiting

    def _idle(self, query: Any) -> bool:
        return not query.status["isTriggerActive"]

    def _drain(self, query: Any) -> None:
        """Waits until everything fed is processed and committed; of a DataFrame that never ends, the batch at hand."""
        try:
            if self._feeder.all_native:
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
