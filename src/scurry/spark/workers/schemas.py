"""Collect the states that a program registers, on a worker: functions are opened where they will run."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scurry.common.pickling import by_value
from scurry.graph.plan import JobPlan
from scurry.runtime.savepoint.schemas import collect_schemas
from scurry.runtime.state.evolution.job import Collected
from scurry.spark.workers.failures import failure_of
from scurry.spark.workers.instances import Job, WorkerTask, close_instances, instances

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def collect_on_worker(spark: SparkSession, plan: JobPlan) -> Collected:
    """Open and close the functions of a plan's stateful operators in a task, and return the states they register.

    Raises:
        OperatorError: A function's `open` failed.
    """
    job = Job.of(f"{plan.settings.job_key}-states", plan)

    def collect(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        with WorkerTask(job):
            collected = collect_schemas(instances(job).load_plan)
            close_instances(job.job_id)
            for _ in batches:
                yield pa.RecordBatch.from_pydict({"collected": [by_value(collected)]})

    try:
        rows = spark.range(0, 1, 1, 1).mapInArrow(collect, "collected binary").collect()
    except Exception as error:
        raise failure_of(error) from error
    found: Collected = pickle.loads(bytes(rows[0][0]))
    return found
