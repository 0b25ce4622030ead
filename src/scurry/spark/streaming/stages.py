"""The stages of a streaming query before and after its levels, as functions that run in workers."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.driver.assignments import SplitAssignment
from scurry.runtime.exchange.wire import SEQ_BITS, WireRow
from scurry.runtime.operators.sink import SinkStage
from scurry.spark.checkpoint.assignment_log import LoggedAssignment
from scurry.spark.streaming.closing import has_close
from scurry.spark.streaming.slots import task_slots
from scurry.spark.workers.failures import texts_of
from scurry.spark.workers.instances import Job, WorkerTask, arrow_batches, instances, partition, rows_of, wire_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Number of attempts at closing while workers and executors die.
_CLOSING_ATTEMPTS = 3


def source_stage(job: Job) -> Any:
    """Return level 0 of the native sources: one block of the assignment stream per task."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            yield from arrow_batches(_read(job, batches), WireRow._fields, wire_schema())

    return run


def _read(job: Job, batches: Iterator[Any]) -> Iterator[WireRow]:
    held = instances(job)
    for batch in batches:
        for payload in batch.column(0).to_pylist():
            logged: LoggedAssignment = pickle.loads(payload)
            assigned = logged.assigned
            if isinstance(assigned, SplitAssignment):
                task = held.source(assigned.source, assigned.channel)
                for rows in task.run(logged.offset << SEQ_BITS, [assigned.split], assigned.final, job.batch_id()):
                    yield from rows
            else:
                yield from assigned.rows(held.plan)


def frame_stage(job: Job, source: SourcePlan) -> Any:
    """Return level 0 of a streaming DataFrame; all its tasks send as one channel."""
    number = source.id

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            task = instances(job).source(number, 0)
            rows = (row for rows in task.run_unordered(batches, job.batch_id()) for row in rows)
            yield from arrow_batches(rows, WireRow._fields, wire_schema())

    return run


def sink_stage(job: Job) -> Any:
    """Return the stage after the last level, in which staged sinks write."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            stage = SinkStage(instances(job).plan, partition(), job.batch_id())
            rows = stage.run(row for batch in batches for row in rows_of(batch, WireRow))
            yield from arrow_batches(rows, WireRow._fields, wire_schema())

    return run


def close_everywhere(spark: SparkSession, plan: JobPlan, job: Job) -> None:
    """Close the user's functions in every worker, with a barrier stage that keeps all slots busy at once.

    If a worker or executor dies meanwhile, the functions of the others are still closed. What the job has committed is
    not affected.
    """
    if not any(has_close(op.operator) for op in plan.operators.values()):
        return
    job_id = job.job_id

    def close(batches: Iterator[Any]) -> Iterator[Any]:
        from scurry.spark.workers.instances import close_instances

        close_instances(job_id)
        time.sleep(0.05)  # keep this worker until the other tasks of the stage have workers, too
        yield from batches

    for _ in range(_CLOSING_ATTEMPTS):
        try:
            slots = task_slots(spark)
            # Spark refuses barrier stages under dynamic allocation
            barrier = spark.sparkContext.getConf().get("spark.dynamicAllocation.enabled", "false") != "true"
            if slots:
                spark.range(0, slots, 1, slots).mapInArrow(close, "id long", barrier=barrier).collect()
            return
        except Exception as error:  # also if the JVM is gone: this must not hide the job's own failure
            if any("Traceback (most recent call last)" in text for text in texts_of(error)):
                raise  # the user's close() has failed
