"""Count the task slots of a session's executors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def task_slots(spark: SparkSession) -> int:
    """Return how many tasks can run at once on the present executors; 0 on a cluster that has not started any yet.

    Spark's `defaultParallelism` differs: it is at least 2 on clusters, and any configured value.
    """
    context = spark.sparkContext._jsc.sc()
    slots: int = context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
    return slots
