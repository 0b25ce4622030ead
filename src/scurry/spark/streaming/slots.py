"""The task slots of a session's executors."""

from __future__ import annotations

from typing import Any


def task_slots(spark: Any) -> int:
    """The tasks that can run at once on the executors there are now; none on a cluster that has given none yet.

    Spark's `defaultParallelism` is something else: at least 2 on clusters, and whatever is configured.
    """
    context = spark.sparkContext._jsc.sc()
    slots: int = context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
    return slots
