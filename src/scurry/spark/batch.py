"""Run a plan in BATCH mode, as one Spark batch job."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scurry.connectors.spark_source import SparkSource
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.source_coordinator import all_splits
from scurry.runtime.exchange.wire import BATCH_ORDER, BATCH_SCHEMA, SCHEMA, BatchRow, WireRow
from scurry.runtime.operators.sink import SinkStage, staged_sinks
from scurry.runtime.savepoint.batch_savepoint import final_savepoint, runs_of
from scurry.runtime.tasks.batch_task import BatchLevelTask, run_source
from scurry.spark.final_rows import final_rows
from scurry.spark.frames import in_session
from scurry.spark.interrupting import interruptible
from scurry.spark.session.adaptive_execution import adaptive_session_for, by_volume
from scurry.spark.workers.failures import failure_of, noticing_lost_spark
from scurry.spark.workers.instances import (
    Job,
    WorkerTask,
    arrow_batches,
    batch_schema,
    instances,
    partition,
    rows_of,
    wire_schema,
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
        writing = plan.levels if staged_sinks(plan) else None
        frame = _sources(spark, job, worker_job, writing == 0)
        for level in range(1, plan.levels + 1):
            frame = (
                by_volume(frame, plan, level)
                .sortWithinPartitions(*BATCH_ORDER)
                .mapInArrow(_level_stage(worker_job, level, savepoint, writing == level), _schema_of(writing == level))
            )
        if writing is None:
            frame = frame.select(*WireRow._fields)
        try:
            return final_rows(frame, plan, worker_job)
        except Exception as error:
            raise failure_of(error) from error


def _schema_of(writes: bool) -> str:
    return SCHEMA if writes else BATCH_SCHEMA


def _sources(spark: SparkSession, job: JobExecution, worker_job: Job, writes: bool) -> Any:
    """Return level 0: one task per channel of a native source and one per partition of a Spark source.

    Args:
        writes: Whether its tasks write what sinks take, too, as there is no other level.
    """
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
        stage = _source_stage(worker_job, closure, broadcast, writes)
        frames.append(spark.range(0, count, 1, count).mapInArrow(stage, _schema_of(writes)))
    for source in plan.sources.values():
        if isinstance(source.source, SparkSource):
            stage = _frame_stage(worker_job, source.id, writes)
            frames.append(in_session(spark, source.source.dataframe).mapInArrow(stage, _schema_of(writes)))
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.union(other)
    return frame


def _source_stage(job: Job, closure: bytes | None, broadcast: Any, writes: bool) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            held = instances(job)
            payload = closure if closure is not None else broadcast.value
            items = pickle.loads(payload)
            sinks = _sinks(job, writes)

            def rows() -> Iterator[BatchRow]:
                for batch in batches:
                    for index in batch.column(0).to_pylist():
                        number, instance, works = pickle.loads(items[index])
                        for some in run_source(held.load_plan, number, instance, works, sinks):
                            yield from some

            yield from _arrow(rows(), sinks)

    return run


def _frame_stage(job: Job, number: int, writes: bool) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            sinks = _sinks(job, writes)
            runs = run_source(instances(job).load_plan, number, partition(), [batches], sinks)
            yield from _arrow((row for rows in runs for row in rows), sinks)

    return run


def _level_stage(job: Job, level: int, savepoint: str | None, writes: bool) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job), runs_of(savepoint, level, partition()) as run_of:
            sinks = _sinks(job, writes)
            task = BatchLevelTask(instances(job).load_plan, level, run_of, sinks)
            rows = (row for batch in batches for row in rows_of(batch, BatchRow))
            yield from _arrow((row for rows in task.run(rows) for row in rows), sinks)

    return run


def _sinks(job: Job, writes: bool) -> SinkStage | None:
    """Return the writer for a task of the last level: no other worker needs to take over its records."""
    return SinkStage(instances(job).plan, partition(), 0) if writes else None


def _arrow(rows: Iterator[BatchRow], sinks: SinkStage | None) -> Iterator[Any]:
    if sinks is None:
        return arrow_batches(rows, BatchRow._fields, batch_schema())
    wire = sinks.run(WireRow(*row[:6]) for row in rows)
    return arrow_batches(wire, WireRow._fields, wire_schema())
