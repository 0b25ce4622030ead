"""Execute the micro-batches of one generation of a job as a structured streaming query."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from os.path import dirname
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from scurry.common._config.fault_tolerance import SUPERSEDED_MAX_BYTES
from scurry.connectors.spark_source import SparkSource
from scurry.errors import SavepointTrustError
from scurry.runtime.driver.checkpoint_history import BatchDetails
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import SavepointRequest
from scurry.runtime.driver.streaming import CommittedBatch
from scurry.runtime.exchange.wire import SCHEMA, Assigned
from scurry.runtime.operators.sink import staged_sinks
from scurry.runtime.replay.preparing import capturing
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.spark.checkpoint.generations import CheckpointDirectory, Generation
from scurry.spark.checkpoint.prepared import Preparing
from scurry.spark.checkpoint.rollback import not_computed_again
from scurry.spark.final_rows import final_rows
from scurry.spark.frames import in_session
from scurry.spark.savepoint.taker import SavepointTaker
from scurry.spark.session.jvm_classes.collect_rows import row_collector
from scurry.spark.session.options import is_one_jvm
from scurry.spark.streaming.assignment_stream import AssignmentStream
from scurry.spark.streaming.partitions import SHUFFLE_PARTITIONS
from scurry.spark.streaming.stages import close_everywhere, frame_stage, sink_stage, source_stage
from scurry.spark.workers.failures import failure_of
from scurry.spark.workers.instances import Job
from scurry.spark.workers.local_state import LocalState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Seconds between two checks that the query still runs: a call to the JVM costs more than all else in the loop.
_CHECK_SECONDS = 0.25


class SparkEngine:
    """Execute the batches of the assignment stream.

    Args:
        generation: The generation that the query checkpoints to.
        savepoints: Takes savepoints of the generation.
        directory: Stores the schemas of its state.
    """

    def __init__(
        self,
        job: JobExecution,
        spark: SparkSession,
        generation: Generation,
        assignments: AssignmentStream,
        savepoints: SavepointTaker,
        directory: CheckpointDirectory,
    ) -> None:
        plan = job.plan
        self._job, self._plan, self._spark = job, plan, spark
        self._all_native = all(source.source.native for source in plan.sources.values())
        self._generation, self._assignments = generation, assignments
        self._savepoints, self._directory = savepoints, directory
        self._preparing = Preparing(generation.storage)
        # another name in each attempt, so that no worker reuses functions of an earlier one; a session that starts a
        # job again gives it the same id
        name = f"{job.job_id}-{generation.number}-{job.next_start()}-{uuid4().hex[:8]}"
        plan.settings = replace(plan.settings, start=name, capturing=capturing(job))
        self._on_one_machine = is_one_jvm(spark.sparkContext.master or "")
        self._local_state = LocalState.of(plan, spark.sparkContext, generation, name, self._on_one_machine)
        self._files = generation.run_files(spark)
        if self._files is not None:
            configured = plan.settings.configuration.get(SUPERSEDED_MAX_BYTES.key, "1 gb")
            subtasks = max(plan.levels * len(plan.subtask_ids), 1)
            self._files = replace(self._files, limit=SUPERSEDED_MAX_BYTES.parse(configured) // subtasks)
        self._worker_job = Job.of(name, plan, generation.first_batch, self._local_state, self._files)
        self._collect = row_collector(spark)
        self._query: Any = None
        self._held = ExitStack()
        #: those after what was submitted; None before anything was
        self._positions: SourcePositions | None = None
        self._checked = 0.0
        self._committed = threading.Event()
        #: how long the last batch took, without Spark's planning and logging
        self._batch_seconds = 0.0
        self._error: BaseException | None = None

    # ---------------------------------------------------------------- the query

    def recover(self) -> SourcePositions | None:
        self._positions = self._assignments.recover()
        return self._positions

    @property
    def replaying(self) -> bool:
        return self._assignments.replaying

    @property
    def not_computed_again(self) -> int | None:
        last = not_computed_again(self._generation.storage, self._generation.committed())
        return None if last is None else self._generation.first_batch + last

    def start(self) -> None:
        plan = self._plan
        self._hold_local_state()
        self._spark.conf.set(SHUFFLE_PARTITIONS, str(plan.partitions))
        self._job.spark_ui = self._spark.sparkContext.uiWebUrl
        wire = self._assignments.frame().mapInArrow(source_stage(self._worker_job), SCHEMA)
        for source in plan.sources.values():
            if isinstance(source.source, SparkSource):
                frame = in_session(self._spark, source.source.dataframe)
                wire = wire.union(frame.mapInArrow(frame_stage(self._worker_job, source), SCHEMA))
        for level in range(1, plan.levels + 1):
            from scurry.spark.streaming.stages import LevelProcessor

            processor = LevelProcessor(self._worker_job, level)
            wire = wire.groupBy("subtask").transformWithState(processor, SCHEMA, "append", "none")
        if staged_sinks(plan):
            wire = wire.mapInArrow(sink_stage(self._worker_job), SCHEMA)
        writer = wire.writeStream.outputMode("append").foreachBatch(self._commit)
        writer = writer.option("checkpointLocation", self._generation.spark_directory)
        interval = max(plan.settings.checkpoint_interval_ms or 0, plan.settings.checkpoint_pause_ms)
        writer = writer.trigger(processingTime=f"{interval} milliseconds")
        query = self._query = writer.queryName(plan.settings.job_name).start()
        self._checked = time.monotonic()
        self._assignments.started(query)
        self._job.checkpoints.details = partial(batch_details, query, self._generation.first_batch)

    def _hold_local_state(self) -> None:
        """Keep the copies of state while the job runs; remove them at its end if its checkpoint ends, too."""
        local, job = self._local_state, self._job
        if local is None or not self._on_one_machine:
            return
        try:
            self._held = local.hold()
        except (OSError, SavepointTrustError):
            if local.named:
                raise
            if self._files is not None:  # what the state reader would read may be deleted meanwhile
                self._savepoints.links = partial(mkdtemp, prefix=".savepoint-", dir=dirname(self._files.directory))
            return
        self._savepoints.links = local.links
        if not local.checkpoint:
            job.cleanup.callback(local.forget)

    def submit(self, assigned: Sequence[Assigned], positions: SourcePositions) -> None:
        self._positions = positions
        self._assignments.add(assigned, positions)

    def _commit(self, frame: Any, batch_id: int) -> None:
        begun = time.monotonic()
        try:
            rows = final_rows(frame, self._plan, self._worker_job, self._collect)
            output = self._job.sort(rows)
            self._job.require_directory()
            self._directory.remember_states(self._job.state_schemas)
            number, step = self._generation.first_batch + batch_id, self._job.protocol.step
            step("computed", number, self._end_of_batch, int(self._job.sinks.are_lasting))
            if self._job.sinks.are_lasting:
                written = {self._plan.operators[number].uid: parts for number, parts in output.written.items()}
                self._preparing.note(batch_id, written)
                step("prepared", number)
            self._job.commit_output(number, output, begun)
            step("output", number)
            self._assignments.batch_ended()
            self._savepoints.tasks_have_saved(batch_id)
            self._batch_seconds = time.monotonic() - begun
            self._committed.set()
        except BaseException as error:
            if self._error is None:
                self._error = error
            raise

    @property
    def _end_of_batch(self) -> int:
        """Return the number of assignments up to the end of the present batch; 0 if a DataFrame may have begun it."""
        return self._assignments.shown_end if self._all_native else 0

    # ---------------------------------------------------------------- waiting

    def committed(self) -> CommittedBatch | None:
        if time.monotonic() - self._checked > _CHECK_SECONDS:
            self._check()
            self._checked = time.monotonic()
        if not self._committed.is_set():
            return None
        self._committed.clear()
        return CommittedBatch(self._batch_seconds)

    def wait(self, seconds: float) -> None:
        self._committed.wait(seconds)

    def finish(self) -> None:
        """Wait until everything submitted is committed; with a streaming DataFrame, until the current batch is."""
        try:
            if self._all_native:
                self._query.processAllAvailable()
            else:
                self._committed.clear()
                while self._query.isActive and not (self._committed.wait(0.01) or self._idle()):
                    continue
        except Exception as error:
            raise self._failure(error) from error
        self._check()

    def _idle(self) -> bool:
        return not self._query.status["isTriggerActive"]

    def _check(self) -> None:
        if not self._query.isActive:
            raise self._failure(self._query.exception() or RuntimeError("the query stopped by itself"))

    def _failure(self, error: BaseException) -> BaseException:
        return failure_of(error, self._error)

    # ---------------------------------------------------------------- savepoints

    def begin_savepoint(self, request: SavepointRequest) -> None:
        self._savepoints.begin(request)

    def saving(self) -> Sequence[Assigned]:
        return () if self.replaying else self._savepoints.messages()

    def write_savepoint(self, request: SavepointRequest, positions: SourcePositions | None) -> None:
        self._savepoints.take_at_end(request, self._let_tasks_save, positions)

    def save_for_rescaling(self) -> None:
        self._directory.let_origin_be_saved(self._let_tasks_save)

    def _let_tasks_save(self, path: str) -> None:
        """Let the tasks write their state into a savepoint, in a micro-batch that does nothing else."""
        if self._positions is not None:
            saving = self._savepoints.message(path)
            self._assignments.add([saving], self._positions)
            self.finish()

    # ---------------------------------------------------------------- the end

    def stop(self) -> None:
        self._query.stop()
        self._savepoints.end()

    def close(self) -> None:
        self._held.close()
        close_everywhere(self._spark, self._plan, self._worker_job)


#: Spark's names of the phases of a micro-batch, in their order; `addBatch` runs the tasks and commits the sinks.
_PHASES = ("latestOffset", "getBatch", "walCommit", "queryPlanning", "addBatch", "commitBatch", "commitOffsets")


def batch_details(query: Any, first_batch: int, since: int) -> Mapping[int, BatchDetails]:
    """Return Spark's details of its latest batches, by batch id; empty if Spark is gone.

    Args:
        first_batch: The job's id of the query's first batch.
        since: The job's id of the first batch that is asked for.
    """
    found: dict[int, BatchDetails] = {}
    try:
        # Each is JSON that the JVM makes and this process parses: PySpark's `recentProgress` does so with all of them.
        reported = query._jsq.recentProgress()
        for index in reversed(range(len(reported))):
            progress = json.loads(reported[index].json())
            batch_id = first_batch + progress["batchId"]
            if batch_id < since:
                break
            if "addBatch" in progress["durationMs"]:  # not a report that there was nothing to do yet
                began = datetime.fromisoformat(progress["timestamp"])
                found[batch_id] = BatchDetails(_state_size(progress), _phases(progress), int(began.timestamp() * 1000))
    except Exception:  # the session was stopped, or its JVM has died
        return {}
    return found


def _phases(progress: Any) -> dict[str, int]:
    durations = progress["durationMs"]
    return {phase: durations[phase] for phase in _PHASES if phase in durations}


def _state_size(progress: Any) -> int:
    """Return the bytes of the state: of each operator the larger of RocksDB's files and the memory in use."""
    total = 0
    for operator in progress["stateOperators"]:
        files = operator.get("customMetrics", {}).get("rocksdbTotalSstFilesSize", 0)
        total += max(files, operator["memoryUsedBytes"])
    return total
