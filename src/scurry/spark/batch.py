"""Run a plan in BATCH mode, as one Spark batch job."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scurry.connectors.spark_source import SparkSource
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.source_coordinator import all_splits
from scurry.runtime.exchange.wire import BATCH_ORDER, BATCH_SCHEMA, SCHEMA, BatchRow, WireRow
from scurry.runtime.operators.sink import staged_sinks
from scurry.runtime.savepoint.batch_savepoint import final_savepoint, runs_of
from scurry.runtime.tasks.batch_task import BatchLevelTask, run_source
from scurry.spark.final_rows import final_rows
from scurry.spark.frames import in_session
from scurry.spark.interrupting import interruptible
from scurry.spark.session.adaptive_execution import adaptive_session_for, by_volume
from scurry.spark.streaming.stages import sink_stage
from scurry.spark.workers.failures import failure_of, noticing_lost_spark
from scurry.spark.workers.instances import (
    Job,
    WorkerTask,
    arrow_batches,
    batch_schema,
    instances,
    partition,
    rows_of,
)
from scurry.spark.workers.partitioning import spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The limit of an Arrow batch for a worker, which holds it and the rows that it decodes from it. Micro-batches are
#: limited themselves, and larger Arrow batches cost them less.
BATCH_BYTES = 8 * 1024 * 1024
_SETTINGS = {"spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES)}


class BatchRunner:
    """Run a plan whose sources are all bounded."""

    @noticing_lost_spark()
    def run(self, job: JobExecution) -> None:
        """Run the job: one Spark job with a sorted exchange per level."""
        plan = job.plan
        spark = adaptive_session_for(plan, _SETTINGS)
        job.spark_ui = spark.sparkContext.uiWebUrl
        plan.subtask_ids = spread(len(plan.subtask_ids), plan.settings.parallelism)
        worker_job = Job.of(f"{job.job_id}-{job.next_start()}", plan)
        job.start_clock()
        with final_savepoint(job) as savepoint:
            with interruptible(job, spark.sparkContext):
                rows = self._rows(spark, job, worker_job, savepoint)
            job.commit(0, rows)
        job.sinks.finish()

    def _rows(self, spark: SparkSession, job: JobExecution, worker_job: Job, savepoint: str | None) -> list[WireRow]:
        """Compute the job; return the rows for the driver."""
        plan = job.plan
        frame = _sources(spark, job, worker_job)
        for level in range(1, plan.levels + 1):
            frame = (
                by_volume(frame, plan, level)
                .sortWithinPartitions(*BATCH_ORDER)
                .mapInArrow(_level_stage(worker_job, level, savepoint), BATCH_SCHEMA)
            )
        frame = frame.select(*WireRow._fields)
        if staged_sinks(plan):
            frame = frame.mapInArrow(sink_stage(worker_job), SCHEMA)
        try:
            return final_rows(frame, plan, worker_job)
        except Exception as error:
            raise failure_of(error) from error


def _sources(spark: SparkSession, job: JobExecution, worker_job: Job) -> Any:
    """Return level 0: one task per channel of a native source and one per partition of a Spark source."""
    plan = job.plan
    work = [
        (source.id, instance, works)
        for source in plan.sources.values()
        if source.source.native
        for instance, works in all_splits(plan, source).items()
    ]
    frames = []
    if work:
        count = len(work)
        payload = pickle.dumps([pickle.dumps(item, 5) for item in work], 5)
        broadcast = spark.sparkContext.broadcast(payload) if len(payload) > 1 << 20 else None
        closure = None if broadcast is not None else payload
        stage = _source_stage(worker_job, closure, broadcast)
        frames.append(spark.range(0, count, 1, count).mapInArrow(stage, BATCH_SCHEMA))
    for source in plan.sources.values():
        if isinstance(source.source, SparkSource):
            stage = _frame_stage(worker_job, source.id)
            frames.append(in_session(spark, source.source.dataframe).mapInArrow(stage, BATCH_SCHEMA))
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.union(other)
    return frame


def _source_stage(job: Job, closure: bytes | None, broadcast: Any) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            held = instances(job)
            payload = closure if closure is not None else broadcast.value
            items = pickle.loads(payload)
            for batch in batches:
                for index in batch.column(0).to_pylist():
                    number, instance, works = pickle.loads(items[index])
                    runs = run_source(held.load_plan, number, instance, works)
                    yield from _arrow(row for rows in runs for row in rows)

    return run


def _frame_stage(job: Job, number: int) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            runs = run_source(instances(job).load_plan, number, partition(), [batches])
            yield from _arrow(row for rows in runs for row in rows)

    return run


def _level_stage(job: Job, level: int, savepoint: str | None) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job), runs_of(savepoint, level, partition()) as run_of:
            task = BatchLevelTask(instances(job).load_plan, level, run_of)
            rows = (row for batch in batches for row in rows_of(batch, BatchRow))
            yield from _arrow(row for rows in task.run(rows) for row in rows)

    return run


def _arrow(rows: Iterator[BatchRow]) -> Iterator[Any]:
    return arrow_batches(rows, BatchRow._fields, batch_schema())
